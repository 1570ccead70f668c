/** What the server writes into the page; see src/atrium/product/console/model.py. */
interface Look {
  title: string;
  tagline: string;
  logo: string | null;
  theme: Record<string, string>;
}

interface PageFacts extends Look {
  locale: string;
  localization: { default_locale: string; locales: string[]; switching: boolean };
  needs_bootstrap: boolean;
  /** What the root address shows. */
  home: 'console' | 'beta';
}

interface Window {
  /** Left by boot.js before the first paint. */
  atrium: {
    facts: PageFacts;
    look: Look;
    applyTheme: (theme: Record<string, string>) => void;
    stuck: () => void;
    catalog: Promise<Response>;
    identity: Promise<Response> | null;
  };
  /** As far as the console uses them; not every browser has them. */
  trustedTypes?: {
    createPolicy: (
      name: string,
      rules: { createScriptURL: (address: string) => string },
    ) => { createScriptURL: (address: string) => unknown };
  };
}
