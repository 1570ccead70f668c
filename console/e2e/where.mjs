// Where messages are shown: the pseudo-locale writes each key, unseen, behind its opening bracket; what is on a screen tells its keys.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { NAMESPACES, wordsOf } from './words.mjs';

const root = fileURLToPath(new URL('../../locales', import.meta.url));
const keysOf = (ns) => Object.keys(JSON.parse(readFileSync(`${root}/en/${ns}.json`, 'utf8'))).map((name) => `${ns}.${name}`);
const KEYS = NAMESPACES.flatMap(keysOf).sort();
/** Characters without width, as digits. */
const DIGITS = ['\u2060', '\u2061', '\u2062', '\u2063', '\u2064'];
const MARKED = new RegExp(`⟦([${DIGITS.join('')}]+)`, 'gu');
/** As many as a translator reads; what the frame says is on every screen. */
const MOST = 5;

/** The mark of every key. */
export const MARKS = Object.fromEntries(KEYS.map((key, place) => [key, [...place.toString(DIGITS.length)].map((digit) => DIGITS[digit]).join('')]));
const markOf = (key) => MARKS[key] ?? '';
const keyOf = (mark) => KEYS[parseInt([...mark].map((one) => DIGITS.indexOf(one)).join(''), DIGITS.length)];

export const bracketed = (key, text) => `⟦${markOf(key)}${text}⟧`;

/** What the console says under the bracketed catalog. */
export function bracketedWords(locale) {
  const t = wordsOf(locale);
  return (key, values) => bracketed(key, t(key, values));
}

/** Every key on the page, in texts and in what is read out. */
export async function keysOn(page) {
  const said = await page.evaluate(() => [document.body.textContent, ...[...document.querySelectorAll('*')].flatMap((one) => ['aria-label', 'placeholder', 'title', 'alt', 'aria-description'].map((name) => one.getAttribute(name) ?? ''))].join('\n'));
  return new Set([...said.matchAll(MARKED)].map(([, mark]) => keyOf(mark)));
}

/** Things that addresses call by a name of their own. */
const NAMED = /^(\/settings\/instance\/companies|\/workflows|\/plugins)\/(?!_?new$)[^/]+/;

/** An address that holds for every team: `$id` stands for any thing. */
const routeOf = (path) => path.replace(/[?#].*$/, '').replace(/\/[0-9a-f]{8}-[0-9a-f-]{27}/g, '/$id').replace(NAMED, '$1/$id') || '/';

export function makeWhere() {
  const found = new Map();
  return {
    async see(page, { path }) {
      for (const key of await keysOn(page)) found.set(key, (found.get(key) ?? new Set()).add(routeOf(path)));
    },
    /** Into `locales/<namespace>.about.json`, beside what people wrote there. */
    write() {
      for (const ns of NAMESPACES) {
        const file = `${root}/${ns}.about.json`;
        const about = readdirSync(root).includes(`${ns}.about.json`) ? JSON.parse(readFileSync(file, 'utf8')) : {};
        for (const key of keysOf(ns)) {
          const name = key.slice(ns.length + 1);
          const said = { ...about[name] };
          delete said.screens;
          const screens = [...(found.get(key) ?? [])].slice(0, MOST);
          if (screens.length || Object.keys(said).length) about[name] = { ...said, ...(screens.length && { screens }) };
          else delete about[name];
        }
        const lines = Object.entries(about).sort(([one], [other]) => (one < other ? -1 : 1)).map((one) => `  ${JSON.stringify(one[0])}: ${JSON.stringify(one[1])}`);
        if (lines.length) writeFileSync(file, `{\n${lines.join(',\n')}\n}\n`);
      }
    },
    count: () => found.size,
  };
}
