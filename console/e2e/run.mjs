// Runs every browser suite, the long ones first so that both cores end together, and prints the seconds of each.
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { run } from 'node:test';
import { tap } from 'node:test/reporters';

const here = fileURLToPath(new URL('.', import.meta.url));
// By what they took when they were measured; a suite that is not here comes after them.
const LONG = ['catalogs', 'screens-first', 'screens-second', 'screens-third', 'screens-fourth', 'layout', 'company-journey', 'journey', 'sessions', 'attack', 'people', 'companies', 'files', 'nothing-lost', 'manners'];
const rank = (name) => (LONG.includes(name) ? LONG.indexOf(name) : LONG.length);
const names = readdirSync(here).filter((file) => file.endsWith('.test.mjs')).map((file) => file.replace('.test.mjs', ''));
const files = names.sort((one, other) => rank(one) - rank(other)).map((name) => `${here}${name}.test.mjs`);

const seconds = new Map();
const count = ({ nesting, file, details }) => {
  if (nesting === 0) seconds.set(file, (seconds.get(file) ?? 0) + details.duration_ms / 1000);
};
const suites = run({ files, concurrency: 2, timeout: 600_000 });
suites.on('test:pass', count);
suites.on('test:fail', (failed) => {
  count(failed);
  process.exitCode = 1;
});
suites.compose(tap).pipe(process.stdout);
suites.on('end', () => {
  for (const [file, spent] of [...seconds].sort(([, one], [, other]) => other - one)) console.log(`# ${spent.toFixed(0).padStart(4)}s  ${file.replace(here, '')}`);
});
