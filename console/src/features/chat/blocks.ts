/** A text that grows, in blocks: only the last one changes, so that the others need not be read again. */

/** Cuts at blank lines outside of fenced code; joined by blank lines the blocks are the text. */
export function blocksOf(text: string): string[] {
  const blocks: string[] = [];
  let open: string[] = [];
  let fence = '';
  for (const line of text.split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
    if (!fence && mark) fence = mark;
    else if (fence && mark.startsWith(fence) && line.trim() === mark) fence = '';
    if (line === '' && !fence && open.length > 0) {
      blocks.push(open.join('\n'));
      open = [];
    } else {
      open.push(line);
    }
  }
  blocks.push(open.join('\n'));
  return blocks;
}
