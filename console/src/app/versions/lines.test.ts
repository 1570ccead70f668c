import { linesBetween } from './lines';

const shown = (before: string, after: string) =>
  linesBetween(before, after).map((line) => `${{ same: ' ', added: '+', removed: '-', skipped: '…' }[line.kind]}${line.text}`);

test('a changed line is one removed and one added', () => {
  expect(shown('a\nb\nc\n', 'a\nB\nc\n')).toEqual([' a', '-b', '+B', ' c']);
});

test('lines keep their numbers on both sides', () => {
  expect(linesBetween('a\nb', 'x\na\nb').map(({ before, after }) => [before, after])).toEqual([[null, 1], [1, 2], [2, 3]]);
});

test('a long stretch without changes is one mark', () => {
  const text = Array.from({ length: 40 }, (_, at) => `line ${at}`).join('\n');

  expect(shown(text, `${text}\nmore`)).toEqual(['…', ' line 37', ' line 38', ' line 39', '+more']);
});

test('equal texts differ nowhere', () => {
  expect(linesBetween('a\nb', 'a\nb').every((line) => line.kind === 'same')).toBe(true);
});
