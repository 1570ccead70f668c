import { expect, it } from 'vitest';
import { blocksOf } from './blocks';

it('cuts at blank lines, and not inside fenced code', () => {
  const text = 'One\ntwo\n\n```js\nlet a;\n\nlet b;\n```\n\n- x\n- y';
  expect(blocksOf(text)).toEqual(['One\ntwo', '```js\nlet a;\n\nlet b;\n```', '- x\n- y']);
});

it('changes only its last block while a text grows', () => {
  const text = 'First paragraph.\n\n~~~\ncode\n\nmore\n~~~\n\nLast.';
  for (let length = 1; length < text.length; length++) {
    const [before, after] = [blocksOf(text.slice(0, length)), blocksOf(text.slice(0, length + 1))];
    expect(after.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
    expect(after.join('\n\n').replace(/\n+$/, '')).toBe(text.slice(0, length + 1).replace(/\n+$/, ''));
  }
});
