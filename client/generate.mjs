// Writes src/generated.ts from the server's own OpenAPI document, which is made of the route table; --check fails when it is stale.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { declarations } from './declarations.mjs';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const target = at('./src/generated.ts');
const atrium = process.env.ATRIUM ?? at('../.venv/bin/atrium');
const document = JSON.parse(execFileSync(atrium, ['openapi'], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }));
const fresh = declarations(document);

if (process.argv.includes('--check')) {
  if (readFileSync(target, 'utf8') !== fresh) {
    console.error('client/src/generated.ts is stale: the interface changed. Run `npm run generate`.');
    process.exit(1);
  }
  console.log('client is fresh');
} else {
  writeFileSync(target, fresh);
  console.log('wrote client/src/generated.ts');
}
