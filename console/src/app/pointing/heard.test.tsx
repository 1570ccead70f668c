import { formatterOf } from '@/i18n/formatter';
import { makeHeard } from './heard';

const MESSAGES = {
  'ui.cancel': 'Cancel',
  'jobs.cancel': 'Cancel',
  'time.now': 'just now',
  'notes.edited': 'Edited {when}',
  'app.code': 'Put it into <code>TOKEN</code> first',
  'nav.notes': 'Notes',
  'nav.section': 'Team',
};

function listening() {
  const heard = makeHeard();
  return { ...formatterOf('en', MESSAGES, heard.hear), keysOf: heard.keysOf };
}

test('a text leads to every message that says it', () => {
  const { find, keysOf } = listening();
  find('ui.cancel');
  find('jobs.cancel');

  expect(keysOf(' Cancel ')).toEqual(['ui.cancel', 'jobs.cancel']);
  expect(keysOf('Something that a person wrote')).toEqual([]);
});

test('a message inside of another is found after it', () => {
  const { find, keysOf } = listening();
  find('notes.edited', { when: find('time.now')! });

  expect(keysOf('Edited just now')).toEqual(['notes.edited', 'time.now']);
});

test('each part of a message with tags leads to it', () => {
  const { rich, keysOf } = listening();
  rich('app.code' as never, { code: (parts) => <code key="code">{parts}</code> });

  expect(['Put it into ', 'TOKEN', ' first'].map(keysOf)).toEqual([['app.code'], ['app.code'], ['app.code']]);
});

test('of a text that code put together, its whole messages are found', () => {
  const { find, keysOf } = listening();
  find('nav.notes');
  find('nav.section');

  expect(keysOf('Notes · Team')).toEqual(['nav.notes', 'nav.section']);
  expect(keysOf('Teams')).toEqual([]);
});
