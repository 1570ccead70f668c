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

it('cuts what is long without a blank line, and what grows changes its last block only', () => {
  const rows = (row: (at: number) => string) => Array.from({ length: 200 }, (_, at) => row(at)).join('\n');
  const shapes = {
    list: rows((at) => `- item ${at} of a long list`),
    table: `| a | b |\n| - | - |\n${rows((at) => `| cell ${at} | and the other |`)}`,
    code: `~~~js\n${rows((at) => `let item${at} = ${at};\n`)}\n~~~`,
    verses: rows((at) => `A line of verse, number ${at}`),
    'after blank lines': `\n\n${rows((at) => `1. item ${at} of a long list`)}`,
    paragraph: Array.from({ length: 300 }, (_, at) => `This is sentence ${at}.`).join(' '),
  };
  for (const [name, text] of Object.entries(shapes)) {
    const blocks = blocksOf(text);
    expect(blocks.length, name).toBeGreaterThan(1);
    expect(Math.max(...blocks.map((block) => block.length)), name).toBeLessThan(2600);
    for (let length = 1; length < text.length; length += 23) {
      const [before, after] = [blocksOf(text.slice(0, length)), blocksOf(text.slice(0, length + 23))];
      expect(after.slice(0, before.length - 1), name).toEqual(before.slice(0, -1));
    }
  }
  expect(blocksOf(shapes.table).every((block) => block.startsWith('| a | b |\n| - | - |\n'))).toBe(true);
  expect(blocksOf(shapes.code).every((block) => block.startsWith('~~~js\n') && block.endsWith('\n~~~'))).toBe(true);
});
