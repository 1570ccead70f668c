import { later } from './undoable';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('it happens after eight seconds', () => {
  const commit = vi.fn();
  later(commit);

  vi.advanceTimersByTime(7999);
  expect(commit).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(commit).toHaveBeenCalledWith(false);
});

test('taken back, it never happens', () => {
  const commit = vi.fn();

  later(commit)();
  vi.runAllTimers();

  expect(commit).not.toHaveBeenCalled();
});

test('a leaving page does it at once, by a request that outlives it', () => {
  const commit = vi.fn();
  later(commit);

  dispatchEvent(new Event('pagehide'));
  vi.runAllTimers();

  expect(commit.mock.calls).toEqual([[true]]);
});
