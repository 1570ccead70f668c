/** Languages by their own names, as their readers look for them. */
export const LANGUAGES: [tag: string, name: string][] = [
  ['ar', 'العربية'], ['bg', 'Български'], ['ca', 'Català'], ['cs', 'Čeština'], ['da', 'Dansk'], ['de', 'Deutsch'], ['el', 'Ελληνικά'],
  ['en', 'English'], ['es', 'Español'], ['et', 'Eesti'], ['eu', 'Euskara'], ['fa', 'فارسی'], ['fi', 'Suomi'], ['fr', 'Français'],
  ['ga', 'Gaeilge'], ['gl', 'Galego'], ['he', 'עברית'], ['hi', 'हिन्दी'], ['hr', 'Hrvatski'], ['hu', 'Magyar'], ['id', 'Bahasa Indonesia'],
  ['is', 'Íslenska'], ['it', 'Italiano'], ['ja', '日本語'], ['ko', '한국어'], ['lt', 'Lietuvių'], ['lv', 'Latviešu'], ['nb', 'Norsk bokmål'],
  ['nl', 'Nederlands'], ['pl', 'Polski'], ['pt', 'Português'], ['pt-BR', 'Português (Brasil)'], ['ro', 'Română'], ['ru', 'Русский'],
  ['sk', 'Slovenčina'], ['sl', 'Slovenščina'], ['sr', 'Српски'], ['sv', 'Svenska'], ['th', 'ไทย'], ['tr', 'Türkçe'], ['uk', 'Українська'],
  ['vi', 'Tiếng Việt'], ['zh-Hans', '简体中文'], ['zh-Hant', '繁體中文'],
];
const NAMES = new Map(LANGUAGES);

/** The name of a language; the tag itself when it has none here. */
export const languageName = (tag: string): string => NAMES.get(tag) ?? tag;

const KEY = 'atrium.translate_target';

/** The language that was translated into last. */
export const lastTarget = (own: string): string => localStorage.getItem(KEY) ?? (own === 'es' ? 'en' : 'es');
export const rememberTarget = (tag: string) => localStorage.setItem(KEY, tag);
