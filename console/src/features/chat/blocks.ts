/** A text that grows, in blocks: only the last one changes, so that the others need not be read again. */

/** From here on a block is cut where that shows least, in characters: reading and laying out one takes a few milliseconds. */
const LONG = 2000;
const ITEM = /^ {0,3}([-*+]|\d{1,9}[.)]) /;
const PLAIN = /^[\p{L}\d(["'*_`]+[^.)]/u;
const DELIMITERS = /^ {0,3}\|?[ :|-]*-[ :|-]*$/;

/**
 * Cuts at blank lines outside of fenced code; joined by blank lines the blocks are the text. What is long without a blank line is cut
 * too: a list before an item, a table before a row, its head repeated, code before a line, between fences, a paragraph after a line or a
 * sentence.
 */
export function blocksOf(text: string): string[] {
  const blocks: string[] = [];
  let open: string[] = [];
  let fence = '';
  let opening = '';
  let length = 0;
  const close = (more: string[], next: string[]) => {
    blocks.push([...open, ...more].join('\n'));
    open = next;
    length = 0;
  };
  // A line that has not begun is not a blank one.
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
    if (fence && mark.startsWith(fence) && line.trim() === mark) fence = '';
    else if (fence && length > LONG) close([fence], [opening]);
    else if (!fence && mark) [fence, opening] = [mark, line];
    else if (!fence && length > LONG) cut(line, open, close);
    if (line === '' && !fence && open.length > 0) {
      close([], []);
    } else {
      length += line.length;
      open.push(...(fence || length <= LONG || open.some(Boolean) ? [line] : sentencesOf(line, blocks)));
    }
  }
  blocks.push(open.join('\n'));
  return blocks;
}

function cut(line: string, open: readonly string[], close: (more: string[], next: string[]) => void): void {
  const begin = open.findIndex(Boolean);
  const [first = '', second = ''] = open.slice(begin, begin + 2);
  if (ITEM.test(first) && ITEM.test(line) && indentOf(first) === indentOf(line)) close([], []);
  else if (PLAIN.test(first) && PLAIN.test(line) && !first.includes('|')) close([], []);
  else if (first.includes('|') && DELIMITERS.test(second) && line.includes('|')) close([], [first, second]);
}

const indentOf = (line: string): number => line.length - line.trimStart().length;

/** A paragraph that is one long line: all but its end go to the blocks. */
function sentencesOf(line: string, blocks: string[]): string[] {
  let from = 0;
  for (const { index, 0: end } of line.matchAll(/[.!?] /g)) {
    if (index + 1 - from <= LONG) continue;
    blocks.push(line.slice(from, index + 1));
    from = index + end.length;
  }
  return [line.slice(from)];
}
