/** Every key there is, read off the English catalogs; a key that does not exist does not compile. One line per namespace. */
import type account from '../../../locales/en/account.json';
import type app from '../../../locales/en/app.json';
import type audit from '../../../locales/en/audit.json';
import type branding from '../../../locales/en/branding.json';
import type companies from '../../../locales/en/companies.json';
import type company from '../../../locales/en/company.json';
import type documents from '../../../locales/en/documents.json';
import type errors from '../../../locales/en/errors.json';
import type executors from '../../../locales/en/executors.json';
import type features from '../../../locales/en/features.json';
import type files from '../../../locales/en/files.json';
import type home from '../../../locales/en/home.json';
import type instance from '../../../locales/en/instance.json';
import type jobs from '../../../locales/en/jobs.json';
import type members from '../../../locales/en/members.json';
import type notes from '../../../locales/en/notes.json';
import type plugins from '../../../locales/en/plugins.json';
import type s3 from '../../../locales/en/s3.json';
import type signin from '../../../locales/en/signin.json';
import type time from '../../../locales/en/time.json';
import type tokens from '../../../locales/en/tokens.json';
import type ui from '../../../locales/en/ui.json';
import type usage from '../../../locales/en/usage.json';
import type writing from '../../../locales/en/writing.json';

interface Catalogs {
  account: typeof account;
  app: typeof app;
  audit: typeof audit;
  branding: typeof branding;
  companies: typeof companies;
  company: typeof company;
  documents: typeof documents;
  errors: typeof errors;
  executors: typeof executors;
  features: typeof features;
  files: typeof files;
  home: typeof home;
  instance: typeof instance;
  jobs: typeof jobs;
  members: typeof members;
  notes: typeof notes;
  plugins: typeof plugins;
  s3: typeof s3;
  signin: typeof signin;
  time: typeof time;
  tokens: typeof tokens;
  ui: typeof ui;
  usage: typeof usage;
  writing: typeof writing;
}

export type MessageKey = { [Space in keyof Catalogs]: `${Space}.${keyof Catalogs[Space] & string}` }[keyof Catalogs];
