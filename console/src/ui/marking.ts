/** What the toolbar, the menu and the keys do to a Markdown text: each changes the marks around the selection and nothing else. */
import { syntaxTree } from '@codemirror/language';
import { EditorSelection, type EditorState, type Line, type StateCommand } from '@codemirror/state';
import type { EditorView, KeyBinding } from '@codemirror/view';

export const MARKINGS = ['bold', 'italic', 'heading', 'list', 'task', 'link', 'code', 'table'] as const;
export type Marking = (typeof MARKINGS)[number];

/** Puts a mark on both sides of each selection, or takes it away where it is. */
const around =
  (mark: string): StateCommand =>
  ({ state, dispatch }) => {
    const change = state.changeByRange(({ from, to }) => {
      const outer = state.sliceDoc(from - mark.length, from) === mark && state.sliceDoc(to, to + mark.length) === mark;
      if (outer && !isPartOfLonger(state, from, to, mark)) {
        const changes = [{ from: from - mark.length, to: from }, { from: to, to: to + mark.length }];
        return { changes, range: EditorSelection.range(from - mark.length, to - mark.length) };
      }
      const changes = [{ from, insert: mark }, { from: to, insert: mark }];
      return { changes, range: EditorSelection.range(from + mark.length, to + mark.length) };
    });
    dispatch(state.update(change, { userEvent: 'input', scrollIntoView: true }));
    return true;
  };

/** `*` beside a word in bold is one half of `**`, not a mark of its own. */
const isPartOfLonger = (state: EditorState, from: number, to: number, mark: string): boolean =>
  mark === '*' && /(^|[^*])\*\*$/.test(state.sliceDoc(from - 3, from)) && state.sliceDoc(to, to + 2) === '**';

/** The lines the selection is on. */
function linesOf(state: EditorState): Line[] {
  const found = new Map<number, Line>();
  for (const { from, to } of state.selection.ranges) {
    const last = state.doc.lineAt(to).number;
    for (let number = state.doc.lineAt(from).number; number <= last; number++) found.set(number, state.doc.line(number));
  }
  const lines = [...found.values()];
  return lines.length > 1 ? lines.filter((line) => line.text.trim()) : lines;
}

/** Changes how each line begins; what follows stays. */
const beginning =
  (expected: RegExp, next: (found: RegExpExecArray) => string): StateCommand =>
  ({ state, dispatch }) => {
    const changes = linesOf(state).map((line) => {
      const found = expected.exec(line.text)!;
      return { from: line.from, to: line.from + found[0].length, insert: next(found) };
    });
    const update = state.changes(changes);
    // After what was put in, where the caret stood at the beginning of its line.
    dispatch(state.update({ changes: update, selection: state.selection.map(update, 1), userEvent: 'input', scrollIntoView: true }));
    return true;
  };

const DEEPEST_HEADING = 3;
const heading = beginning(/^(?:(#{1,6})[ \t]+)?/, ([, marks = '']) => (marks.length >= DEEPEST_HEADING ? '' : `${marks}# `));
const list = beginning(/^([ \t]*)([-*+][ \t]+)?/, ([, blanks, mark]) => (mark ? blanks! : `${blanks}- `));
const task = beginning(
  /^([ \t]*)([-*+][ \t]+|\d+[.)][ \t]+)?(\[[ xX]\][ \t]+)?/,
  ([, blanks, mark, box]) => `${blanks}${mark ?? '- '}${box ? '' : '[ ] '}`,
);

/** The words become the link's, and the caret waits where something is missing. */
const link: StateCommand = ({ state, dispatch }) => {
  const change = state.changeByRange(({ from, to }) => {
    const words = state.sliceDoc(from, to);
    const isAddress = /^(https?:\/\/|mailto:)\S+$/i.test(words);
    const changes = isAddress ? [{ from, insert: '[](' }, { from: to, insert: ')' }] : [{ from, insert: '[' }, { from: to, insert: ']()' }];
    return { changes, range: EditorSelection.cursor(isAddress || from === to ? from + 1 : to + 3) };
  });
  dispatch(state.update(change, { userEvent: 'input', scrollIntoView: true }));
  return true;
};

const inlineCode = around('`');
/** Backticks around words, fences around lines. */
const code: StateCommand = (target) => {
  const { state, dispatch } = target;
  const { from, to } = state.selection.main;
  const [first, last] = [state.doc.lineAt(from), state.doc.lineAt(to)];
  if (first.number === last.number) return inlineCode(target);
  const changes = [{ from: first.from, insert: `\`\`\`${state.lineBreak}` }, { from: last.to, insert: `${state.lineBreak}\`\`\`` }];
  dispatch(state.update({ changes, userEvent: 'input', scrollIntoView: true }));
  return true;
};

/** An empty table on lines of its own, the caret in its first cell. */
const table: StateCommand = ({ state, dispatch }) => {
  const line = state.doc.lineAt(state.selection.main.head);
  const before = line.text.trim() ? ['', ''] : [];
  const after = line.number < state.doc.lines && state.doc.line(line.number + 1).text.trim() ? [''] : [];
  const insert = state.toText([...before, '|   |   |', '| --- | --- |', '|   |   |', ...after].join(state.lineBreak));
  const selection = { anchor: line.to + before.length + 2 };
  dispatch(state.update({ changes: { from: line.to, insert }, selection, userEvent: 'input', scrollIntoView: true }));
  return true;
};

export const COMMANDS: Record<Marking, StateCommand> = { bold: around('**'), italic: around('*'), heading, list, task, link, code, table };

/** Ticks the box of the task on the line at this place, or empties it: one character. False where there is none. */
export function tick({ state, dispatch }: Pick<EditorView, 'state' | 'dispatch'>, at: number): boolean {
  const line = state.doc.lineAt(at);
  let box: number | null = null;
  syntaxTree(state).iterate({
    from: line.from,
    to: line.to,
    enter: ({ name, from }) => {
      if (name === 'TaskMarker' && from >= line.from && box === null) box = from + 1;
    },
  });
  if (box === null) return false;
  const insert = state.sliceDoc(box, box + 1) === ' ' ? 'x' : ' ';
  dispatch(state.update({ changes: { from: box, to: box + 1, insert }, userEvent: 'input' }));
  return true;
}

export const KEYS: KeyBinding[] = [
  { key: 'Mod-b', run: COMMANDS.bold },
  { key: 'Mod-i', run: COMMANDS.italic },
  { key: 'Mod-e', run: COMMANDS.code },
  { key: 'Mod-Shift-8', run: COMMANDS.list },
  { key: 'Mod-Shift-l', run: COMMANDS.task },
  { key: 'Mod-Shift-k', run: COMMANDS.link },
  { key: 'Mod-Enter', run: (view) => tick(view, view.state.selection.main.head) },
];
