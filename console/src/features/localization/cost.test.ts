import { expect, test } from 'vitest';
import { costOf } from './cost';

test('nothing that is missing costs nothing', () => {
  expect(costOf([], 0)).toBe(0);
});

test('twice as many messages of the same length cost about twice as much', () => {
  const [one, two] = [costOf(['x'.repeat(40)], 500), costOf(['x'.repeat(40)], 1000)];

  expect(two / one).toBeGreaterThan(1.9);
  expect(two / one).toBeLessThan(2.1);
});
