import { areaOf, historyOf, waitOf } from './queue';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const ago = (minutes: number) => new Date(NOW - minutes * 60_000).toISOString();
const job = (
  state: 'queued' | 'running' | 'succeeded' | 'cancelled',
  created: number,
  started: number | null = null,
  finished: number | null = null,
  run = created,
) => ({
  state,
  created_at: ago(created),
  run_at: ago(run),
  started_at: started === null ? null : ago(started),
  finished_at: finished === null ? null : ago(finished),
});

test('the depth counts who waited at each moment', () => {
  const moments = historyOf([job('succeeded', 30, 20, 19), job('running', 25, 10), job('queued', 5)], NOW);
  const depthAt = (minutes: number) => moments[60 - minutes]?.depth;

  expect([depthAt(40), depthAt(28), depthAt(22), depthAt(15), depthAt(7), depthAt(0)]).toEqual([0, 1, 2, 1, 0, 1]);
});

test('the age is that of the longest waiting', () => {
  const moments = historyOf([job('queued', 12), job('queued', 5)], NOW);

  expect(moments.at(-1)).toEqual({ at: NOW, depth: 2, age: 12 * 60 });
});

test('a job whose time has not come does not wait yet', () => {
  expect(historyOf([job('queued', 12, null, null, -30)], NOW).at(-1)?.depth).toBe(0);
});

test('a job cancelled before its turn waited until then', () => {
  expect(waitOf(job('cancelled', 12, null, 4))).toEqual({ from: Date.parse(ago(12)), until: Date.parse(ago(4)) });
});

test('a job that waits for another attempt has waited since its new time', () => {
  expect(waitOf(job('queued', 12, 11, null, 2))).toEqual({ from: Date.parse(ago(2)), until: Infinity });
});

test('the area reaches its box at the most, and lies flat over nothing', () => {
  expect(areaOf([0, 2, 4], 10, 8)).toBe('M0 8L0 8L5 4L10 0L10 8Z');
  expect(areaOf([0, 0], 10, 8)).toBe('M0 8L0 8L10 8L10 8Z');
});
