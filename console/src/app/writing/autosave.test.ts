import { Refusal } from '@/api/refusal';
import type { Note } from '@/api/queries';
import { readDraft } from './drafts';
import { Autosave, type Server } from './autosave';

const note = (change: Partial<Note> = {}): Note => ({
  id: 'n1',
  team_id: 't',
  owner_id: 'u',
  title: 'T',
  body: 'base',
  visibility: 'team',
  version: 1,
  created_at: '',
  updated_at: '',
  updated_by: 'u',
  ...change,
});

/** A server with one note that refuses stale versions, as the real one does. */
function memory(first: Note) {
  let kept = first;
  let down = false;
  const server: Server<Note> = {
    read: async () => kept,
    save: async ({ version }, change) => {
      if (down) throw new Refusal(0, 'unreachable', '');
      if (version !== kept.version) throw new Refusal(412, 'notes.stale', 'r');
      return (kept = { ...kept, ...change, version: kept.version + 1 });
    },
  };
  return {
    server,
    kept: () => kept,
    touch: () => (kept = { ...kept, version: kept.version + 1 }),
    other: (body: string) => (kept = { ...kept, body, version: kept.version + 1 }),
    fall: (now: boolean) => (down = now),
  };
}

beforeEach(() => {
  localStorage.clear();
  vi.useFakeTimers();
});
afterEach(() => vi.useRealTimers());

test('what is typed is saved after a pause, and the draft goes', async () => {
  const world = memory(note());
  const autosave = new Autosave(note(), 'u', world.server);

  autosave.edit({ body: 'typed' });
  expect(readDraft('u', 'n1')?.body).toBe('typed');
  await vi.runAllTimersAsync();

  expect([world.kept().body, autosave.read().state, readDraft('u', 'n1')]).toEqual(['typed', 'saved', null]);
});

test('what is typed while saving is saved next', async () => {
  const world = memory(note());
  const autosave = new Autosave(note(), 'u', world.server);
  autosave.edit({ body: 'one' });

  const saving = autosave.flush();
  autosave.edit({ body: 'one two' });
  await saving;
  await vi.runAllTimersAsync();

  expect([world.kept().body, world.kept().version]).toEqual(['one two', 3]);
});

test('a newer version on the server becomes a conflict that keeps both texts', async () => {
  const world = memory(note());
  const autosave = new Autosave(note(), 'u', world.server);
  world.other('theirs');

  autosave.edit({ body: 'mine' });
  await autosave.flush();

  expect([autosave.read().state, autosave.read().text.body, autosave.read().theirs?.body]).toEqual(['conflict', 'mine', 'theirs']);
  await autosave.resolve({ title: 'T', body: 'theirs\nmine' });
  expect([world.kept().body, autosave.read().state]).toEqual(['theirs\nmine', 'saved']);
});

test('a dead network keeps the text and tries again', async () => {
  const world = memory(note());
  const autosave = new Autosave(note(), 'u', world.server);
  world.fall(true);
  autosave.edit({ body: 'tunnel' });
  await autosave.flush();
  expect([autosave.read().state, readDraft('u', 'n1')?.body]).toEqual(['waiting', 'tunnel']);

  world.fall(false);
  await vi.runAllTimersAsync();

  expect([world.kept().body, autosave.read().state]).toEqual(['tunnel', 'saved']);
});

test('an earlier visit’s text comes back, as a conflict when the note moved on', () => {
  localStorage.setItem(
    'atrium.draft.u.n1',
    JSON.stringify({ title: 'T', body: 'unsaved', version: 1, base: { title: 'T', body: 'base' } }),
  );

  expect(new Autosave(note(), 'u', memory(note()).server).read()).toMatchObject({
    state: 'editing',
    restored: true,
    text: { body: 'unsaved' },
  });
  expect(new Autosave(note({ version: 2, body: 'newer' }), 'u', memory(note()).server).read()).toMatchObject({
    state: 'conflict',
    text: { body: 'unsaved' },
    theirs: { body: 'newer' },
  });
});

test('a note without a title waits for one', async () => {
  const world = memory(note());
  const autosave = new Autosave(note(), 'u', world.server);

  autosave.edit({ title: ' ', body: 'text' });
  await vi.runAllTimersAsync();

  expect([autosave.read().state, world.kept().version, readDraft('u', 'n1')?.body]).toEqual(['untitled', 1, 'text']);
});

test('a share made meanwhile is no conflict: the text goes on top', async () => {
  const world = memory(note());
  const autosave = new Autosave(note(), 'u', world.server);
  world.touch();

  autosave.edit({ body: 'typed' });
  await vi.runAllTimersAsync();

  expect([world.kept().body, autosave.read().state]).toEqual(['typed', 'saved']);
});
