import '@testing-library/jest-dom/vitest';

window.atrium = { facts: { title: 'Atrium', tagline: '', logo: null, theme: {}, locale: 'en', localization: { default_locale: 'en', locales: ['en'], switching: true }, needs_bootstrap: false }, look: { title: 'Atrium', tagline: '', logo: null, theme: {} }, dress: () => undefined, catalog: null as never, identity: null };
