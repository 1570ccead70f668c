/** Every key there is, read off the English catalogs; a key that does not exist does not compile. One line per namespace. */
import type account from '../../../locales/en/account.json';
import type app from '../../../locales/en/app.json';
import type audit from '../../../locales/en/audit.json';
import type branding from '../../../locales/en/branding.json';
import type companies from '../../../locales/en/companies.json';
import type company from '../../../locales/en/company.json';
import type errors from '../../../locales/en/errors.json';
import type features from '../../../locales/en/features.json';
import type home from '../../../locales/en/home.json';
import type instance from '../../../locales/en/instance.json';
import type members from '../../../locales/en/members.json';
import type notes from '../../../locales/en/notes.json';
import type plugins from '../../../locales/en/plugins.json';
import type signin from '../../../locales/en/signin.json';
import type time from '../../../locales/en/time.json';
import type tokens from '../../../locales/en/tokens.json';
import type ui from '../../../locales/en/ui.json';
import type usage from '../../../locales/en/usage.json';

interface Catalogs {
  account: typeof account;
  app: typeof app;
  audit: typeof audit;
  branding: typeof branding;
  companies: typeof companies;
  company: typeof company;
  errors: typeof errors;
  features: typeof features;
  home: typeof home;
  instance: typeof instance;
  members: typeof members;
  notes: typeof notes;
  plugins: typeof plugins;
  signin: typeof signin;
  time: typeof time;
  tokens: typeof tokens;
  ui: typeof ui;
  usage: typeof usage;
}

export type MessageKey = { [Space in keyof Catalogs]: `${Space}.${keyof Catalogs[Space] & string}` }[keyof Catalogs];
