// Judges ICU messages with the parser that the console's formatter uses: reads [[source, result], …], prints what is broken.
import { createRequire } from 'node:module';

const { parse } = createRequire(new URL('../../../console/package.json', import.meta.url))('@formatjs/icu-messageformat-parser');
const [LITERAL, SELECT, PLURAL, POUND, TAG] = [0, 5, 6, 7, 8];

/** What a body promises, without its branches: each argument, tag and number sign, and how often. */
function promises(body, found = []) {
  for (const part of body) {
    if (part.type === LITERAL) continue;
    found.push(part.type === POUND ? '#' : `${part.type}:${part.value}:${JSON.stringify(part.style ?? '')}:${part.pluralType ?? ''}`);
    if (part.type === TAG) promises(part.children, found);
  }
  return found.sort();
}

function choices(body, found = []) {
  for (const part of body) {
    if (part.type === SELECT || part.type === PLURAL) found.push(part);
    if (part.type === TAG) choices(part.children, found);
  }
  return found;
}

function compare(source, result) {
  const [wanted, got] = [promises(source), promises(result)];
  if (JSON.stringify(wanted) !== JSON.stringify(got)) return `${got} instead of ${wanted}`;
  const keyed = new Map(choices(source).map((part) => [`${part.type}:${part.value}`, part]));
  for (const part of choices(result)) {
    const from = keyed.get(`${part.type}:${part.value}`);
    for (const [selector, { value }] of Object.entries(part.options)) {
      // A form may be made of `other` instead, also where the source has it: "one file" is not said of 21.
      const first = compare((from.options[selector] ?? from.options.other).value, value);
      if (first && compare(from.options.other.value, value)) return `${selector}: ${first}`;
    }
    const lost = Object.keys(from.options).filter((name) => !(name in part.options) && (part.type === SELECT || name.startsWith('=')));
    if (lost.length) return `lost ${lost}`;
  }
  return null;
}

let input = '';
for await (const piece of process.stdin) input += piece;
const broken = [];
const pairs = JSON.parse(input);
for (const [source, result] of pairs) {
  try {
    const fault = compare(parse(source), parse(result));
    if (fault) broken.push([source, result, fault]);
  } catch (error) {
    broken.push([source, result, String(error.message)]);
  }
}
console.log(JSON.stringify({ judged: pairs.length, broken }));
