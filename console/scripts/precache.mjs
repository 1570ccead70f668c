// Writes into the built service worker which files it keeps, named by what they contain.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const dist = fileURLToPath(new URL('../dist', import.meta.url));
const EMPTY = "const BUILD = { version: 'development', entry: '', files: [] };";
const files = readdirSync(`${dist}/assets`).filter((name) => !/\.(br|gz)$/.test(name)).sort().map((name) => `/assets/${name}`);
const page = readFileSync(`${dist}/index.html`, 'utf8');
const entry = /<script type="module"[^>]* src="([^"]+)"/.exec(page)[1];
const worker = readFileSync(`${dist}/sw.js`, 'utf8');
if (!worker.includes(EMPTY)) throw new Error('the service worker names no build to fill in');
const version = createHash('sha256').update(files.join('\n')).update(page).update(worker).digest('hex').slice(0, 12);
writeFileSync(`${dist}/sw.js`, worker.replace(EMPTY, `const BUILD = ${JSON.stringify({ version, entry, files })};`));
console.log(`the service worker keeps ${files.length} files as ${version}`);
