// What the console says, in the language of the test.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { IntlMessageFormat } from 'intl-messageformat';

const root = fileURLToPath(new URL('../../locales', import.meta.url));
/** Beside the folders lie the files that say where messages are shown. */
export const LOCALES = readdirSync(root, { withFileTypes: true }).filter((one) => one.isDirectory()).map(({ name }) => name);
export const NAMESPACES = readdirSync(`${root}/en`).map((file) => file.slice(0, -5));

export function wordsOf(locale) {
  const messages = Object.fromEntries(readdirSync(`${root}/${locale}`).flatMap((file) => Object.entries(JSON.parse(readFileSync(`${root}/${locale}/${file}`, 'utf8'))).map(([name, text]) => [`${file.slice(0, -5)}.${name}`, text])));
  return (key, values) => {
    if (!(key in messages)) throw new Error(`no message ${key} in ${locale}`);
    return new IntlMessageFormat(messages[key], locale).format(values);
  };
}
