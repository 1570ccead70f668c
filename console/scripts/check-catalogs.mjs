// Every message exists in every locale, with the same arguments, tags and well-formed plurals; every key in the source exists.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse, TYPE } from '@formatjs/icu-messageformat-parser';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const root = at('../../locales');
const problems = [];
const BASE = 'en';

function read(locale) {
  const files = readdirSync(`${root}/${locale}`).filter((name) => name.endsWith('.json'));
  return Object.fromEntries(files.flatMap((file) => Object.entries(JSON.parse(readFileSync(`${root}/${locale}/${file}`, 'utf8'))).map(([name, text]) => [`${file.slice(0, -5)}.${name}`, text])));
}

/** The arguments and tags a message uses, whatever its language. */
function signature(text, where) {
  const found = new Set();
  const walk = (elements) => {
    for (const element of elements) {
      if (element.type === TYPE.argument) found.add(element.value);
      if (element.type === TYPE.number || element.type === TYPE.date || element.type === TYPE.time) problems.push(`${where}: numbers and dates are formatted by the program, not in messages`);
      if (element.type === TYPE.plural) {
        found.add(element.value);
        if (!element.options.other) problems.push(`${where}: a plural without "other"`);
        Object.values(element.options).forEach((option) => walk(option.value));
      }
      if (element.type === TYPE.tag) {
        found.add(`<${element.value}>`);
        walk(element.children);
      }
    }
  };
  try {
    walk(parse(text, { requiresOtherClause: true }));
  } catch (error) {
    problems.push(`${where}: ${error.message}`);
  }
  return [...found].sort().join();
}

const locales = readdirSync(root).filter((name) => !name.endsWith('.json'));
const base = read(BASE);
for (const locale of locales) {
  const messages = read(locale);
  for (const key of Object.keys(base)) {
    if (!messages[key]?.trim()) problems.push(`${locale}: ${key} is missing`);
    // A plural may be flat where a language does not inflect.
    else if (signature(messages[key], `${locale} ${key}`) !== signature(base[key], `${BASE} ${key}`) && signature(messages[key], '') !== '') problems.push(`${locale}: ${key} uses other arguments than ${BASE}`);
  }
  for (const key of Object.keys(messages)) if (!(key in base)) problems.push(`${locale}: ${key} is in no other locale`);
}

for (const file of readdirSync(root).filter((name) => name.endsWith('.about.json'))) {
  const ns = file.split('.')[0];
  for (const name of Object.keys(JSON.parse(readFileSync(`${root}/${file}`, 'utf8')))) if (!(`${ns}.${name}` in base)) problems.push(`${file}: there is no message ${ns}.${name}`);
}

const spaces = [...new Set(Object.keys(base).map((key) => key.split('.')[0]))];
const source = readdirSync(at('../src'), { recursive: true, withFileTypes: true }).filter((file) => file.isFile() && /\.tsx?$/.test(file.name)).map((file) => readFileSync(`${file.parentPath ?? file.path}/${file.name}`, 'utf8')).join('\n');
const literal = new Set([...source.matchAll(new RegExp(`['"\`]((?:${spaces.join('|')})\\.[a-z0-9_]+)['"\`]`, 'g'))].map((match) => match[1]));
const made = [...source.matchAll(new RegExp(`\`((?:${spaces.join('|')})\\.[a-z0-9_]*)\\$\\{`, 'g'))].map((match) => match[1]);
// The sign-up form's page gets its words without their namespace.
const funnel = readFileSync(at('../funnel/page.ts'), 'utf8');
for (const [, word, said] of funnel.matchAll(/words\.([a-z_]+)|text\('([a-z_]+)'\)/g)) literal.add(`beta.${word ?? said}`);
for (const key of Object.keys(base)) if (!literal.has(key) && !made.some((start) => key.startsWith(start))) problems.push(`${key} is used nowhere`);

if (problems.length) {
  console.error([...new Set(problems)].join('\n'));
  process.exit(1);
}
console.log(`${Object.keys(base).length} messages in ${locales.length} locales: ${locales.join(', ')}`);
