// Runs every browser suite, or those that are named, the long ones first so that both cores end together; a suite that failed
// is asked again alone. Ends with the seconds of each, and one list of what failed and of what failed once.
// node e2e/run.mjs [NAME...]
import { appendFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { run } from 'node:test';
import { tap } from 'node:test/reporters';
import { failureOf, linesOf, suiteOf, suitesToAskAgain, verdictOf } from './again.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
/** Longer than all the patience of a suite; who takes that long hangs. */
const MOST_SECONDS = 900;
// By what they took when they were measured; a suite that is not here comes after them.
const LONG = ['sweep-first', 'sweep-second', 'files', 'sessions', 'localization', 'company-journey', 'journey', 'workflows', 'onboarding', 'jobs', 'companies', 'offline', 'knowledge', 'chat', 'people', 'nothing-lost', 'agent', 'attack', 'layout', 'manners'];
const rank = (name) => (LONG.includes(name) ? LONG.indexOf(name) : LONG.length);
const fileOf = (name) => `${here}${name}.test.mjs`;

/** Runs suites, each in a process of its own, and tells what failed in them. */
async function runSuites(names, concurrency, seconds) {
  const failures = [];
  const suites = run({ files: names.map(fileOf), concurrency, timeout: MOST_SECONDS * 1000 });
  suites.on('test:complete', ({ name, file, details }) => {
    if (name === file) seconds.set(suiteOf(file), details.duration_ms / 1000);
  });
  suites.on('test:fail', (failed) => {
    const failure = failureOf(failed);
    if (failure) failures.push(failure);
  });
  for await (const text of suites.compose(tap)) process.stdout.write(text);
  return failures;
}

const all = readdirSync(here).filter((file) => file.endsWith('.test.mjs')).map(suiteOf).sort((one, other) => rank(one) - rank(other));
const wanted = process.argv.slice(2).map(suiteOf);
const unknown = wanted.filter((name) => !all.includes(name));
if (unknown.length) throw new Error(`no suite is called ${unknown.join(', ')}; there are ${all.join(', ')}`);

const seconds = new Map();
const failures = await runSuites(wanted.length ? wanted : all, 2, seconds);
const asked = suitesToAskAgain(failures);
const again = [];
for (const suite of asked) {
  console.log(`# ${suite} is asked again, alone`);
  again.push(...(await runSuites([suite], 1, new Map())));
}

for (const [suite, spent] of [...seconds].sort(([, one], [, other]) => other - one)) console.log(`# ${spent.toFixed(0).padStart(4)}s  ${suite}`);
const verdict = verdictOf(failures, asked, again);
const lines = linesOf(verdict);
for (const line of lines) console.log(line);
// Where the gate collects what failed in every suite.
if (process.env.ATRIUM_VERDICTS) appendFileSync(process.env.ATRIUM_VERDICTS, lines.map((line) => `${line}\n`).join(''));
console.log(`# ${verdict.failed.length} failed, ${verdict.flaky.length} flaky`);
process.exitCode = verdict.failed.length ? 1 : 0;
