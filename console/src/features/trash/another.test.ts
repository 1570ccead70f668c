import { another } from './RestoreAs';

test.each([
  ['tides.md', 'tides (2).md'],
  ['ports/tides.md', 'ports/tides (2).md'],
  ['ports.old/tides', 'ports.old/tides (2)'],
  ['.profile', '.profile (2)'],
])('%s becomes %s', (key, expected) => {
  expect(another(key)).toBe(expected);
});
