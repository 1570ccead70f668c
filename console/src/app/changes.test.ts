import { QueryClient } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ServerEvent } from '@/api/stream';
import { GATHER_MILLISECONDS, hearChanges } from './changes';

/** A lock as browsers have it: one holder, the others wait. */
class Locks {
  private tail = Promise.resolve();
  request(_name: string, { signal }: { signal: AbortSignal }, hold: () => Promise<void>): Promise<void> {
    const held = this.tail.then(() => (signal.aborted ? undefined : hold()));
    this.tail = held.catch(() => undefined);
    return held;
  }
}

class Channel {
  static all = new Set<Channel>();
  onmessage: ((event: { data: unknown }) => void) | null = null;
  constructor(readonly name: string) {
    Channel.all.add(this);
  }
  postMessage(data: unknown): void {
    for (const other of Channel.all) if (other !== this && other.name === this.name) other.onmessage?.({ data });
  }
  close(): void {
    Channel.all.delete(this);
  }
}

/** A server that tells what it is given, to every reader that asks. */
function server() {
  const asked: (string | undefined)[] = [];
  let push: (event: ServerEvent) => void = () => undefined;
  async function* read(_address: string, options: { after?: string; signal?: AbortSignal } = {}): AsyncGenerator<ServerEvent> {
    asked.push(options.after);
    const waiting: ServerEvent[] = [];
    let wake: () => void = () => undefined;
    push = (event) => (waiting.push(event), wake());
    options.signal?.addEventListener('abort', () => wake());
    while (!options.signal?.aborted) {
      while (waiting.length > 0) yield waiting.shift()!;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  }
  return { asked, read, push: (event: ServerEvent) => push(event) };
}

const change = (id: string, data: object): ServerEvent => ({ id, type: 'change', data: JSON.stringify(data) });
const note = (version: number, action = 'changed') => ({ kind: 'note', id: 'n1', action, version });

/** A tab with a client whose invalidations are noted. */
function tab(read: ReturnType<typeof server>['read']) {
  const queries = new QueryClient();
  const old: unknown[] = [];
  vi.spyOn(queries, 'invalidateQueries').mockImplementation((filters) => {
    old.push(filters?.queryKey ?? (filters?.predicate ? 'read before' : 'all'));
    return Promise.resolve();
  });
  return { queries, old, stop: hearChanges(queries, 'u1', read as never) };
}

const hello = (id: string): ServerEvent => ({ id, type: 'hello', data: '{}' });
const settle = () => vi.advanceTimersByTimeAsync(GATHER_MILLISECONDS + 1);

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('BroadcastChannel', Channel);
  vi.stubGlobal('navigator', { locks: new Locks() });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  Channel.all.clear();
});

it('opens one stream for two tabs and tells both', async () => {
  const { asked, read, push } = server();
  const [one, two] = [tab(read), tab(read)];
  await settle();
  push(change('a', note(2)));
  await settle();
  expect(asked).toHaveLength(1);
  expect(one.old).toEqual(['read before', ['notes'], ['note', 'n1']]);
  expect(two.old).toEqual(one.old);
  one.stop();
  two.stop();
});

it('goes on in another tab after the last event that was heard', async () => {
  const { asked, read, push } = server();
  const [one, two] = [tab(read), tab(read)];
  await settle();
  push(change('a', note(2)));
  await settle();
  one.stop();
  await settle();
  push(change('b', note(3, 'gone')));
  await settle();
  expect(asked).toEqual([undefined, 'a']);
  expect(two.old).toHaveLength(5);
  two.stop();
});

it('reads again what was read before the stream began, and once only', async () => {
  const { read, push } = server();
  const one = tab(read);
  await settle();
  push(hello('a'));
  await settle();
  push(hello('b'));
  await settle();
  expect(one.old).toEqual(['read before']);
  one.stop();
});

it('goes on where the first tab was, in a tab that has heard nothing itself', async () => {
  const { asked, read, push } = server();
  const one = tab(read);
  await settle();
  push(hello('a'));
  await settle();
  const two = tab(read);
  await settle();
  expect(two.old).toEqual(['read before']);
  one.stop();
  await settle();
  expect(asked).toEqual([undefined, 'a']);
  two.stop();
});

it('leaves alone what this tab has saved itself', async () => {
  const { read, push } = server();
  const one = tab(read);
  one.queries.setQueryData(['note', 'n1'], { version: 2 });
  await settle();
  push(change('a', note(2)));
  await settle();
  expect(one.old).toEqual(['read before', ['notes']]);
  push(change('b', note(3)));
  await settle();
  expect(one.old).toContainEqual(['note', 'n1']);
  one.stop();
});

it('reads changes that come together once, and everything after a reset', async () => {
  const { read, push } = server();
  const one = tab(read);
  await settle();
  for (let at = 0; at < 50; at++) push(change(`${at}`, { kind: 'object', id: `o${at % 2}`, action: 'moved', version: 1 }));
  await settle();
  expect(one.old).toHaveLength(7);
  push({ id: 'z', type: 'reset', data: '{"reason":"unknown"}' });
  await settle();
  expect(one.old.at(-1)).toBe('all');
  one.stop();
});
