import { hunksOf, marked, merged } from './merge';

test('changes in different places both stand', () => {
  expect(merged('a\nb\nc', 'A\nb\nc', 'a\nb\nC')).toBe('A\nb\nC');
});

test('changes in the same place are both kept', () => {
  expect(merged('a', 'a\nmine', 'a\ntheirs')).toBe('a\ntheirs\nmine');
});

test('the same change twice is there once', () => {
  expect(merged('a', 'a\nsame', 'a\nsame')).toBe('a\nsame');
});

test('what only one side removed is removed', () => {
  expect(merged('a\nb\nc', 'a\nc', 'a\nb\nc')).toBe('a\nc');
});

test('whatever either side added is in the result, for many random edits', () => {
  let seed = 7;
  const random = (below: number) => (seed = (seed * 48271) % 2147483647) % below;
  for (let round = 0; round < 300; round++) {
    const base = Array.from({ length: random(8) }, (_, at) => `line ${at % 3}`);
    const edit = (who: string) => {
      const lines = [...base];
      for (let times = 0; times < 3; times++) lines.splice(random(lines.length + 1), random(2), `${who} ${round} ${times}`);
      return lines;
    };
    const [mine, theirs] = [edit('mine'), edit('theirs')];
    const result = merged(base.join('\n'), mine.join('\n'), theirs.join('\n')).split('\n');
    for (const line of [...mine, ...theirs]) if (!line.startsWith('line')) expect(result).toContain(line);
  }
});

test('hunks say whose a line is, and marks show what the other lacks', () => {
  expect(hunksOf('a', 'a\nm', 'a\nt').map((hunk) => hunk.kind)).toEqual(['same', 'both']);
  expect(marked('a\nb', 'a').map((one) => one.fresh)).toEqual([false, true]);
});
