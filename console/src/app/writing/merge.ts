/** Two people's edits of one text, line by line. Whatever either of them wrote is in the result. */
export interface Hunk {
  kind: 'same' | 'mine' | 'theirs' | 'both';
  lines: string[];
}

/** Lines both texts have, as pairs of positions in order (longest common subsequence). */
function pairs(one: string[], other: string[]): [number, number][] {
  const width = other.length + 1;
  const table = new Uint32Array((one.length + 1) * width);
  for (let i = one.length - 1; i >= 0; i--)
    for (let j = other.length - 1; j >= 0; j--)
      table[i * width + j] =
        one[i] === other[j] ? table[(i + 1) * width + j + 1]! + 1 : Math.max(table[(i + 1) * width + j]!, table[i * width + j + 1]!);
  const found: [number, number][] = [];
  for (let i = 0, j = 0; i < one.length && j < other.length; ) {
    if (one[i] === other[j]) found.push([i++, j++]);
    else if (table[(i + 1) * width + j]! >= table[i * width + j + 1]!) i++;
    else j++;
  }
  return found;
}

const same = (one: string[], other: string[]): boolean => one.length === other.length && one.every((line, index) => line === other[index]);

/** What each side did to the text they started from: where only one of them changed something, that change stands. */
export function hunksOf(base: string, mine: string, theirs: string): Hunk[] {
  const [b, m, t] = [base.split('\n'), mine.split('\n'), theirs.split('\n')];
  const inMine = new Map(pairs(b, m));
  const inTheirs = new Map(pairs(b, t));
  const hunks: Hunk[] = [];
  let [bAt, mAt, tAt] = [0, 0, 0];
  const close = (bEnd: number, mEnd: number, tEnd: number) =>
    hunks.push(...between(b.slice(bAt, bEnd), m.slice(mAt, mEnd), t.slice(tAt, tEnd)));
  b.forEach((line, index) => {
    const [mIndex, tIndex] = [inMine.get(index), inTheirs.get(index)];
    if (mIndex === undefined || tIndex === undefined) return;
    close(index, mIndex, tIndex);
    hunks.push({ kind: 'same', lines: [line] });
    [bAt, mAt, tAt] = [index + 1, mIndex + 1, tIndex + 1];
  });
  close(b.length, m.length, t.length);
  return joined(hunks);
}

function between(base: string[], mine: string[], theirs: string[]): Hunk[] {
  if (same(mine, theirs)) return mine.length ? [{ kind: 'same', lines: mine }] : [];
  if (same(base, mine)) return theirs.length ? [{ kind: 'theirs', lines: theirs }] : [];
  if (same(base, theirs)) return mine.length ? [{ kind: 'mine', lines: mine }] : [];
  const kept: Hunk[] = [];
  if (theirs.length) kept.push({ kind: mine.length ? 'both' : 'theirs', lines: theirs });
  const added = mine.filter((line) => !theirs.includes(line));
  if (added.length) kept.push({ kind: theirs.length ? 'both' : 'mine', lines: added });
  return kept;
}

function joined(hunks: Hunk[]): Hunk[] {
  return hunks.reduce<Hunk[]>((all, hunk) => {
    const before = all.at(-1);
    if (before?.kind === hunk.kind) before.lines.push(...hunk.lines);
    else all.push({ kind: hunk.kind, lines: [...hunk.lines] });
    return all;
  }, []);
}

export const merged = (base: string, mine: string, theirs: string): string =>
  hunksOf(base, mine, theirs)
    .flatMap((hunk) => hunk.lines)
    .join('\n');

/** Lines of `text`, each with whether `other` has it too. */
export function marked(text: string, other: string): { line: string; fresh: boolean }[] {
  const lines = text.split('\n');
  const shared = new Set(pairs(lines, other.split('\n')).map(([at]) => at));
  return lines.map((line, index) => ({ line, fresh: !shared.has(index) }));
}
