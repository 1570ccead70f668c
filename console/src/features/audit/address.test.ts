import { addressOf } from './address';

const about = { kind: 'notes.changed', subject: 's', facts: {}, name: 'Fog', redacted: false, opens: true };
const event = { ...about, id: 'e', at: '2026-01-05T08:00:00Z', team_id: 't', actor_id: 'a', actor: 'ada', seq: 1 };
const all = () => true;
const none = (permission?: string) => permission === undefined;

test('P7: leads to what the reader can open', () => {
  expect(addressOf(event, 't', all)).toBe('/notes/s');
  expect(addressOf({ ...event, kind: 'repository.shared' }, 't', all)).toBe('/files/s');
  expect(addressOf({ ...event, kind: 's3.presigned' }, 't', all)).toBe('/files/s');
});

test('P7: leads nowhere for what is private to others, in the trash, or has no page', () => {
  expect(addressOf({ ...event, opens: false }, 't', all)).toBeNull();
  expect(addressOf({ ...event, kind: 'triggers.deleted', opens: false }, 't', all)).toBeNull();
  expect(addressOf({ ...event, kind: 'identity.signed_in', opens: false }, 't', all)).toBeNull();
});

test('P7: leads to pages of the own team alone, as far as the reader may see them', () => {
  const run = { ...event, kind: 'workflows.started', opens: false };

  expect(addressOf(run, 't', all)).toBe('/runs/s');
  expect(addressOf({ ...run, kind: 'workflows.published', subject: 'sort it' }, 't', all)).toBe('/workflows/sort%20it');
  expect(addressOf(run, 't', none)).toBeNull();
  expect(addressOf(run, 'another', all)).toBeNull();
  expect(addressOf({ ...run, kind: 'jobs.queued' }, 't', none)).toBe('/jobs/s');
});
