import '@testing-library/jest-dom/vitest';

// Tests against a real server run without a page.
if (typeof window !== 'undefined') {
  window.atrium = {
    facts: {
      title: 'Atrium',
      tagline: '',
      logo: null,
      theme: {},
      locale: 'en',
      localization: { default_locale: 'en', locales: ['en'], switching: true },
      needs_bootstrap: false,
      home: 'console',
    },
    look: { title: 'Atrium', tagline: '', logo: null, theme: {} },
    applyTheme: () => undefined,
    stuck: () => undefined,
    catalog: null as never,
    identity: null,
  };
}
