import { Refusal } from '@/api/refusal';
import type { StoredObject } from '@/api/repository';
import { AT_ONCE, Uploads, type Condition, type Server } from './uploads';

const lost = () => new Refusal(0, 'unreachable', '');
const fileOf = (name: string) => new File(['12345'], name);
const objectAt = (key: string, number = 1, size = 5, created_by = 'me') =>
  ({ key, size, revision: number, version: { number, created_by } }) as StoredObject;

/** A server that keeps what it is sent, and loses the connection as often as it is told to. */
class Keeping implements Server {
  kept = new Map<string, StoredObject>();
  conditions: Condition[] = [];
  constructor(private losses: ('before' | 'after' | Refusal)[] = []) {}
  isOwn = (object: StoredObject) => object.version.created_by === 'me';
  drop: Server['drop'] = () => undefined;
  find = async (key: string) => this.kept.get(key) ?? null;
  put: Server['put'] = async ({ key }, condition, onSent) => {
    this.conditions.push(condition);
    onSent(3);
    const loss = this.losses.shift();
    if (loss instanceof Refusal) throw loss;
    if (loss === 'before') throw lost();
    const there = this.kept.get(key);
    const holds = 'If-Match' in condition ? there && condition['If-Match'] === `"r${there.revision}"` : !there;
    if (!holds) throw new Refusal(412, 'repository.stale', '');
    const object = objectAt(key, (there?.version.number ?? 0) + 1);
    this.kept.set(key, object);
    if (loss === 'after') throw lost();
    return object;
  };
}

const states = (uploads: Uploads) => uploads.read().map((one) => one.state);
const settle = () => vi.advanceTimersByTimeAsync(60_000);

beforeEach(() => { vi.useFakeTimers(); });
afterEach(() => { vi.useRealTimers(); });

test('a dropped connection is tried again until the file is there', async () => {
  const server = new Keeping(['before', 'before']);
  const done: string[] = [];
  const uploads = new Uploads(server, (object) => done.push(object.key));

  uploads.add([{ file: fileOf('a'), key: 'a' }], 'private');
  await vi.advanceTimersByTimeAsync(0);
  expect(states(uploads)).toEqual(['waiting']);
  await settle();

  expect(states(uploads)).toEqual(['done']);
  expect(done).toEqual(['a']);
});

test('an answer lost on its way does not make a second version', async () => {
  const server = new Keeping(['after']);
  const uploads = new Uploads(server);

  uploads.add([{ file: fileOf('a'), key: 'a' }], 'private');
  await settle();

  expect(states(uploads)).toEqual(['done']);
  expect(server.kept.get('a')?.version.number).toBe(1);
});

test('what somebody else put there meanwhile gains a version', async () => {
  const server = new Keeping();
  const uploads = new Uploads(server);
  const find = server.find;
  server.find = async (key) => {
    const found = await find(key);
    server.find = find;
    server.kept.set(key, objectAt(key, 7));
    return found;
  };

  uploads.add([{ file: fileOf('a'), key: 'a' }], 'private');
  await settle();

  expect(states(uploads)).toEqual(['done']);
  expect(server.kept.get('a')?.version.number).toBe(8);
});

test('somebody else’s file of the same size is not taken for one’s own', async () => {
  const server = new Keeping(['before']);
  const uploads = new Uploads(server);

  uploads.add([{ file: fileOf('a'), key: 'a' }], 'private');
  await vi.advanceTimersByTimeAsync(0);
  server.kept.set('a', objectAt('a', 1, 5, 'somebody else'));
  await settle();

  expect(states(uploads)).toEqual(['done']);
  expect(server.kept.get('a')?.version).toEqual({ number: 2, created_by: 'me' });
});

test('a refusal stands until somebody tries again', async () => {
  const server = new Keeping([new Refusal(413, 'repository.too_large', '')]);
  const uploads = new Uploads(server);

  uploads.add([{ file: fileOf('a'), key: 'a' }], 'private');
  await settle();
  expect(states(uploads)).toEqual(['refused']);
  uploads.retry(1);
  await settle();

  expect(states(uploads)).toEqual(['done']);
});

test('a few go at once and the rest wait their turn; cancelling frees a place', async () => {
  const server: Server = { find: async () => null, isOwn: () => false, put: () => new Promise(() => undefined), drop: () => undefined };
  const uploads = new Uploads(server);

  uploads.add(['a', 'b', 'c', 'd', 'e'].map((key) => ({ file: fileOf(key), key })), 'team');
  await vi.advanceTimersByTimeAsync(0);
  expect(states(uploads).filter((state) => state === 'sending')).toHaveLength(AT_ONCE);
  uploads.cancel(1);

  expect(states(uploads)).toEqual(['sending', 'sending', 'sending', 'queued']);
});

test('the network coming back ends the waiting', async () => {
  const server = new Keeping(['before']);
  const uploads = new Uploads(server);

  uploads.add([{ file: fileOf('a'), key: 'a' }], 'private');
  await vi.advanceTimersByTimeAsync(0);
  uploads.wake();
  await vi.advanceTimersByTimeAsync(0);

  expect(states(uploads)).toEqual(['done']);
});

test('a large file may lose the line as often as it likes while parts arrive', async () => {
  const file = Object.defineProperty(fileOf('film'), 'size', { value: 400 * 1024 * 1024 });
  const sizes: number[] = [];
  const server: Server = {
    find: async () => null,
    isOwn: () => true,
    drop: () => undefined,
    put: async ({ key, sent }, _, onSent) => {
      sizes.push(sent);
      if (sizes.length > 25) return objectAt(key);
      onSent(sent + 8 * 1024 * 1024);
      throw lost();
    },
  };
  const uploads = new Uploads(server);

  uploads.add([{ file, key: 'film' }], 'private');
  await settle();

  expect(states(uploads)).toEqual(['done']);
  expect(sizes.at(-1)).toBe(25 * 8 * 1024 * 1024);
});

test('a large file that gets nowhere is given up in the end', async () => {
  const file = Object.defineProperty(fileOf('film'), 'size', { value: 400 * 1024 * 1024 });
  const uploads = new Uploads(new Keeping(Array.from({ length: 50 }, () => 'before')));

  uploads.add([{ file, key: 'film' }], 'private');
  await vi.advanceTimersByTimeAsync(600_000);

  expect(states(uploads)).toEqual(['refused']);
});

test('what was sent of a cancelled or cleared upload is dropped', async () => {
  const server = new Keeping([new Refusal(413, 'repository.too_large', ''), 'before']);
  const dropped: string[] = [];
  server.drop = ({ key }) => void dropped.push(key);
  const uploads = new Uploads(server);

  uploads.add([{ file: fileOf('a'), key: 'a' }, { file: fileOf('b'), key: 'b' }], 'private');
  await vi.advanceTimersByTimeAsync(0);
  uploads.cancel(2);
  uploads.clear();

  expect(dropped).toEqual(['b', 'a']);
});
