import { EditorState } from '@codemirror/state';
import { lineBreakOf, withLineBreak } from './line-breaks';

const TEXTS = ['', 'one', 'a\nb', 'a\r\nb\r\n', '\r\n', '\n\r\n', 'a\r\nb\nc\r\n', 'a\rb', 'a\rb\r\nc', 'a\r\r\nb\r\n', '\r', 'a\n\rb'];

test.each(TEXTS)('an editor gives back %j as it was', (text) => {
  const state = EditorState.create({ doc: text, extensions: [EditorState.lineSeparator.of(lineBreakOf(text))] });

  expect(state.sliceDoc()).toBe(text);
});

test('a new line ends as the others do', () => {
  expect(TEXTS.map(lineBreakOf)).toEqual(['\n', '\n', '\n', '\r\n', '\r\n', '\n', '\n', '\n', '\r\n', '\r\n', '\n', '\n']);
});

test('what is pasted ends its lines as the text does', () => {
  expect([withLineBreak('a\nb\r\nc\rd', '\r\n'), withLineBreak('a\r\nb', '\n')]).toEqual(['a\r\nb\r\nc\r\nd', 'a\nb']);
});
