// What failed is asked once more, by itself: which suites may be, and what became of them.
import { basename } from 'node:path';

/** More suites than these do not fail by chance. */
export const MOST = 3;
/** Suites about walls and about what people wrote: chance is no excuse there, but for patience that ran out. */
export const NEVER = ['attack', 'conflict', 'lossless', 'nothing-lost'];

export const suiteOf = (file) => basename(file).replace('.test.mjs', '');

/** What the runner tells of a test that failed, or nothing where it only tells that a part of it did. */
export function failureOf({ name, file, details: { error } }) {
  if (error.failureType === 'subtestsFailed') return null;
  const cause = error.cause instanceof Error ? error.cause : error;
  const isWhole = name === file;
  return {
    suite: suiteOf(file),
    test: isWhole ? 'the suite as a whole' : name,
    line: String(cause.message).trim().split('\n')[0],
    /** It was not loaded, crashed, took too long, or its pages complained at the end. */
    isWhole,
    isPatience: cause.name === 'TimeoutError',
  };
}

const mayBeAskedAgain = (failures) => !failures.some((one) => one.isWhole) && (!NEVER.includes(failures[0].suite) || failures.every((one) => one.isPatience));

const bySuite = (failures) => failures.reduce((found, one) => found.set(one.suite, [...(found.get(one.suite) ?? []), one]), new Map());

/** The suites to ask again after all of them ran. */
export function suitesToAskAgain(failures) {
  const suites = bySuite(failures);
  if (suites.size > MOST) return [];
  return [...suites].filter(([, own]) => mayBeAskedAgain(own)).map(([suite]) => suite);
}

/** What remains after those were asked: what failed for good, and what failed once. */
export function verdictOf(failures, asked, again) {
  const failedTwice = new Set(again.map((one) => one.suite));
  const once = asked.filter((suite) => !failedTwice.has(suite));
  const flaky = once.map((suite) => failures.find((one) => one.suite === suite)).map(({ suite, line }) => ({ suite, line }));
  const known = failures.filter((one) => !once.includes(one.suite));
  const isNew = ({ suite, test }) => !known.some((one) => one.suite === suite && one.test === test);
  return { flaky, failed: [...known, ...again.filter(isNew)] };
}

export const linesOf = ({ flaky, failed }) => [
  ...failed.map(({ suite, test, line }) => `FAILED ${suite}.test.mjs: ${test}: ${line}`),
  ...flaky.map(({ suite, line }) => `FLAKY ${suite}.test.mjs: ${line}`),
];
