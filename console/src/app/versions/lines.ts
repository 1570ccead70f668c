/** What changed between two texts, with a little of what stayed around it. */
import { diffLines } from 'diff';

export interface Line {
  kind: 'same' | 'added' | 'removed' | 'skipped';
  text: string;
  before: number | null;
  after: number | null;
}

/** Lines that stayed, shown on either side of a change. */
const AROUND = 3;

export function linesBetween(before: string, after: string): Line[] {
  let [oldAt, newAt] = [0, 0];
  const lines = diffLines(before, after, { ignoreNewlineAtEof: true }).flatMap(({ value, added, removed }) =>
    value
      .replace(/\n$/, '')
      .split('\n')
      .map((text): Line => ({
        kind: added ? 'added' : removed ? 'removed' : 'same',
        text,
        before: added ? null : ++oldAt,
        after: removed ? null : ++newAt,
      })),
  );
  return shortened(lines);
}

/** Long stretches in which nothing happened become one mark; a text without any change stays whole. */
function shortened(lines: Line[]): Line[] {
  const changed = lines.flatMap((line, at) => (line.kind === 'same' ? [] : [at]));
  if (changed.length === 0) return lines;
  const near = new Set(changed.flatMap((at) => Array.from({ length: 2 * AROUND + 1 }, (_, step) => at - AROUND + step)));
  return lines.reduce<Line[]>((kept, line, at) => {
    if (near.has(at)) kept.push(line);
    else if (kept.at(-1)?.kind !== 'skipped') kept.push({ kind: 'skipped', text: '', before: null, after: null });
    return kept;
  }, []);
}
