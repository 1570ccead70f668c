// Which suites are asked again, and what is said about them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failureOf, linesOf, MOST, NEVER, suitesToAskAgain, verdictOf } from '../again.mjs';

const failure = (suite, more = {}) => ({ suite, test: 'works', line: 'one is not two', isWhole: false, isPatience: false, ...more });
const told = (name, error) => failureOf({ name, file: '/console/e2e/files.test.mjs', details: { error } });
const impatience = Object.assign(new Error('locator.waitFor: Timeout 60000ms exceeded.\nCall log:'), { name: 'TimeoutError' });

describe('what the runner tells', () => {
  it('is the first line of the cause', () => {
    assert.deepEqual(told('works', { failureType: 'testCodeFailure', cause: new Error('one is not two\n\n1 !== 2') }), failure('files'));
  });

  it('is left out where only a part of a test failed', () => {
    assert.equal(told('works', { failureType: 'subtestsFailed', message: '1 subtest failed' }), null);
  });

  it('tells patience that ran out from an answer that is wrong', () => {
    assert.equal(told('works', { failureType: 'testCodeFailure', cause: impatience }).isPatience, true);
  });

  it('tells a suite that crashed from a test that failed', () => {
    const crashed = told('/console/e2e/files.test.mjs', { failureType: 'testCodeFailure', message: 'test failed', exitCode: 1 });

    assert.deepEqual([crashed.isWhole, crashed.test], [true, 'the suite as a whole']);
  });
});

describe('a suite that failed', () => {
  it('is asked again once, however many of its tests failed', () => {
    assert.deepEqual(suitesToAskAgain([failure('files'), failure('files', { test: 'ends' }), failure('chat')]), ['files', 'chat']);
  });

  it('is not asked again where more failed than chance explains', () => {
    const suites = Array.from({ length: MOST + 1 }, (_, n) => failure(`suite-${n}`));

    assert.deepEqual(suitesToAskAgain(suites.slice(1)).length, MOST);
    assert.deepEqual(suitesToAskAgain(suites), []);
  });

  it('is not asked again when it crashed, was not loaded or took too long', () => {
    assert.deepEqual(suitesToAskAgain([failure('files'), failure('files', { isWhole: true })]), []);
  });

  it('is not asked again when it is about walls or losses, unless only patience ran out', () => {
    for (const suite of NEVER) {
      assert.deepEqual(suitesToAskAgain([failure(suite)]), []);
      assert.deepEqual(suitesToAskAgain([failure(suite, { isPatience: true }), failure(suite)]), []);
      assert.deepEqual(suitesToAskAgain([failure(suite, { isPatience: true })]), [suite]);
    }
  });
});

describe('the verdict', () => {
  it('names what failed once, by the first line of it, and forgives it', () => {
    const { flaky, failed } = verdictOf([failure('files'), failure('files', { line: 'later' })], ['files'], []);

    assert.deepEqual(failed, []);
    assert.deepEqual(linesOf({ flaky, failed }), ['FLAKY files.test.mjs: one is not two']);
  });

  it('keeps what failed twice, what was not asked again, and what failed only then', () => {
    const verdict = verdictOf([failure('files'), failure('attack')], ['files'], [failure('files', { test: 'ends' })]);

    assert.deepEqual(linesOf(verdict), ['FAILED files.test.mjs: works: one is not two', 'FAILED attack.test.mjs: works: one is not two', 'FAILED files.test.mjs: ends: one is not two']);
  });
});
