// What each message of a list promises, read by the parser that the console's formatter uses; null for what it refuses.
import { createRequire } from 'node:module';

const { parse } = createRequire(new URL('../../../console/package.json', import.meta.url))('@formatjs/icu-messageformat-parser');
const TYPES = { 1: '', 2: 'number', 3: 'date', 4: 'time', 5: 'select', 6: 'plural' };
const TAG = 8;

function read(body, found) {
  for (const part of body) {
    if (part.type === TAG) {
      found.push(`<${part.value}>`);
      read(part.children, found);
    } else if (part.type in TYPES) {
      found.push(`${part.value}:${part.pluralType === 'ordinal' ? 'selectordinal' : TYPES[part.type]}`);
      for (const [selector, { value }] of Object.entries(part.options ?? {})) {
        found.push(`${part.value}=${selector}`);
        read(value, found);
      }
    }
  }
  return found;
}

function promises(message) {
  try {
    return read(parse(message), []).sort();
  } catch {
    return null;
  }
}

let input = '';
for await (const piece of process.stdin) input += piece;
console.log(JSON.stringify(JSON.parse(input).map(promises)));
