// What the console says, in the language of the test.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { IntlMessageFormat } from 'intl-messageformat';

const root = fileURLToPath(new URL('../../locales', import.meta.url));
export const LOCALES = readdirSync(root);

export function wordsOf(locale) {
  const messages = Object.fromEntries(readdirSync(`${root}/${locale}`).flatMap((file) => Object.entries(JSON.parse(readFileSync(`${root}/${locale}/${file}`, 'utf8'))).map(([name, text]) => [`${file.slice(0, -5)}.${name}`, text])));
  return (key, values) => {
    if (!(key in messages)) throw new Error(`no message ${key} in ${locale}`);
    return new IntlMessageFormat(messages[key], locale).format(values);
  };
}
