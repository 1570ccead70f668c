import { ensureSyntaxTree } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { Decoration, EditorView } from '@codemirror/view';
import { setFocus } from './live-focus';
import { drawnBetween, livePreview } from './live-preview';
import { markdown } from './markdown-language';
import { COMMANDS, tick } from './marking';

/** A text with its caret at `‸`; without one the editor has no focus. */
function stateOf(text: string): EditorState {
  const at = text.indexOf('‸');
  const doc = text.replace('‸', '');
  const state = EditorState.create({ doc, selection: { anchor: Math.max(0, at) }, extensions: [markdown, livePreview('Done')] });
  ensureSyntaxTree(state, doc.length, 5000);
  return at < 0 ? state : state.update({ effects: setFocus.of(true) }).state;
}

/** What is left to see of the text: hidden marks are gone, and `◦` stands where something is drawn instead. */
function seen(state: EditorState): string {
  let shown = '';
  let at = 0;
  drawnBetween(state, 0, state.doc.length).between(0, state.doc.length, (from, to, value: Decoration) => {
    if (!value.point || from === to) return;
    shown += state.sliceDoc(at, from) + (value.spec.widget ? '◦' : '');
    at = to;
  });
  return shown + state.sliceDoc(at);
}

const classesOf = (state: EditorState): string[][] => {
  const found: string[][] = Array.from({ length: state.doc.lines }, () => []);
  drawnBetween(state, 0, state.doc.length).between(0, state.doc.length, (from, to, value: Decoration) => {
    if (from === to) found[state.doc.lineAt(from).number - 1]!.push(...(value.spec.class as string).split(' '));
  });
  return found;
};

const drawnTables = (state: EditorState): string[] =>
  state
    .facet(EditorView.decorations)
    .filter((set) => typeof set !== 'function')
    .flatMap((set) => {
      const found: string[] = [];
      set.between(0, state.doc.length, (from, to) => void found.push(state.sliceDoc(from, to)));
      return found;
    });

test.each([
  ['# Berth 7 ##', 'Berth 7'],
  ['# Ber‸th 7 ##', '# Berth 7 ##'],
  ['# Berth\n\n**pi‸lot** and *tug*', 'Berth\n\n**pilot** and tug'],
  ['‸**pilot** and ~~tug~~', '**pilot** and tug'],
  ['**pilot*‸* and `tug`', '**pilot** and tug'],
  ['**pilot** ‸and `tug`', 'pilot and tug'],
  ['**bold *both‸* bold**', '**bold *both* bold**'],
  ['[pilot](#/notes/1 "t") <https://a.b>', 'pilot https://a.b'],
  ['[pi‸lot](#/notes/1)', '[pilot](#/notes/1)'],
  ['[todo] [x][y] [](empty)', '[todo] [x][y] [](empty)'],
  ['![port](p.png) and ![‸port](p.png)', '◦ and ![port](p.png)'],
  ['> said\n> twice', 'said\ntwice'],
  ['> said\n> tw‸ice', 'said\n> twice'],
  ['- one\n- two', '◦one\n◦two'],
  ['-‸ one\n- t', '- one\n◦t'],
  ['- ‸one', '◦one'],
  ['1. one', '1. one'],
  ['- [ ] open\n- [x] done', '◦open\n◦done'],
  ['- [ ]‸ open\n- [x] done', '- [ ] open\n◦done'],
  ['```js\nlet a = `1`;\n```\nafter', '\nlet a = `1`;\n\nafter'],
  ['```js\nlet‸ a;\n```', '```js\nlet a;\n```'],
  ['one\n\n* * *\n\ntwo', 'one\n\n◦\n\ntwo'],
  ['Setext\n======', 'Setext\n'],
  ['\\*not bold\\*', '*not bold*'],
  ['<b>kept</b> <!-- so -->', '<b>kept</b> <!-- so -->'],
  ['snake_case_word 2 * 3 * 4', 'snake_case_word 2 * 3 * 4'],
])('of %j is seen %j', (text, expected) => {
  expect(seen(stateOf(text))).toBe(expected);
});

test('lines of lists, quotes and code know how they stand', () => {
  const classes = classesOf(stateOf('## Two\n- one\n  - under\n    more\n> said\n\n```\ncode\n```'));

  expect(classes).toEqual([
    ['cm-heading', 'cm-h2'],
    ['cm-depth-1'],
    ['cm-depth-2'],
    ['cm-depth-2'],
    ['cm-quote', 'cm-quotes-1'],
    [],
    ['cm-code', 'cm-fence', 'cm-code-first'],
    ['cm-code'],
    ['cm-code', 'cm-fence', 'cm-code-last'],
  ]);
});

test('a table is drawn as a whole, until the caret is in it', () => {
  const table = '| a | b |\n|---|---|\n| 1 | 2 |';
  const state = stateOf(`one\n\n${table}\n\ntwo`);

  expect(drawnTables(state)).toEqual([table]);
  const inside = state.update({ selection: { anchor: 8 }, effects: setFocus.of(true) }).state;
  expect(drawnTables(inside)).toEqual([]);
  expect(drawnTables(inside.update({ selection: { anchor: 0 } }).state)).toEqual([table]);
});

test('only what was asked for is drawn', () => {
  const doc = Array.from({ length: 50 }, () => '- **one**').join('\n');
  const state = stateOf(doc);
  const places: number[] = [];
  drawnBetween(state, 100, 119).between(0, doc.length, (from) => void places.push(from));

  expect(Math.min(...places)).toBeGreaterThanOrEqual(100);
  expect(Math.max(...places)).toBeLessThan(120);
});

test('a tick changes one character', () => {
  for (const [before, after] of [['- [ ] a\r\n', '- [x] a\r\n'], ['1) [X] a', '1) [ ] a']] as const) {
    const separator = EditorState.lineSeparator.of(before.includes('\r') ? '\r\n' : '\n');
    let state = EditorState.create({ doc: before, extensions: [markdown, separator] });
    tick({ state, dispatch: (transaction: never) => void (state = (transaction as { state: EditorState }).state) } as never, 0);

    expect(state.sliceDoc()).toBe(after);
  }
});

test.each([
  ['bold', '<pilot>', '**<pilot>**'],
  ['bold', '**<pilot>**', '<pilot>'],
  ['italic', '**<pilot>**', '***<pilot>***'],
  ['italic', '*<pilot>*', '<pilot>'],
  ['italic', '***<pilot>***', '**<pilot>**'],
  ['heading', 'a<>b', '# a<>b'],
  ['heading', '### a<>', 'a<>'],
  ['list', '<one\n\ntwo>', '- <one\n\n- two>'],
  ['list', '- one<>', 'one<>'],
  ['task', '<>', '- [ ] <>'],
  ['task', '  - one<>', '  - [ ] one<>'],
  ['task', '- [x] one<>', '- one<>'],
  ['link', '<pilot>', '[pilot](<>)'],
  ['link', '<https://a.b>', '[<>](https://a.b)'],
  ['link', '<>', '[<>]()'],
  ['code', '<tug>', '`<tug>`'],
  ['code', '<one\ntwo>', '```\n<one\ntwo>\n```'],
  ['table', 'one<>', 'one\n\n| <>  |   |\n| --- | --- |\n|   |   |'],
] as const)('%s makes %j to %j', (name, before, after) => {
  const [anchor, head] = [before.indexOf('<'), before.indexOf('>') - 1];
  let state = EditorState.create({ doc: before.replace('<', '').replace('>', ''), selection: { anchor, head } });
  COMMANDS[name]({ state, dispatch: (transaction) => void (state = transaction.state) });

  const { from, to } = state.selection.main;
  expect(`${state.sliceDoc(0, from)}<${state.sliceDoc(from, to)}>${state.sliceDoc(to)}`).toBe(after);
});
