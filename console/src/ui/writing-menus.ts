/** What can be chosen while writing: a slash at the start of a line lists the marks, two brackets find a note to link to. */
import type { EditorView } from '@codemirror/view';
import type { Choice, Menu } from './editor-menu';
import { COMMANDS, MARKINGS, type Marking } from './marking';

/** Something a text can link to. */
export interface Target {
  title: string;
  address: string;
}

const plain = (text: string): string => text.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '');

/** The marks whose name, in the person's language or in English, has a word that begins with what was typed. */
export function marksMenu(label: string, nameOf: (name: Marking) => string): Menu {
  const choices = (typed: string): Choice[] =>
    MARKINGS.filter((name) => [nameOf(name), name].some((words) => ` ${plain(words)}`.includes(` ${plain(typed)}`))).map((name) => ({
      label: nameOf(name),
      run: (view, from, to) => {
        view.dispatch({ changes: { from, to }, userEvent: 'delete' });
        COMMANDS[name](view);
      },
    }));
  return { label, opens: /^\s*\/([^/]{0,30})$/, choices };
}

export function linksMenu(label: string, find: (typed: string) => Promise<readonly Target[]>): Menu {
  const choices = async (typed: string): Promise<Choice[]> =>
    (await find(typed.trim())).map((target) => ({ label: target.title, run: (view, from, to) => link(view, from, to, target) }));
  return { label, opens: /\[\[([^[\]]{0,60})$/, choices };
}

/** A plain Markdown link; brackets in the title stay words. */
function link(view: EditorView, from: number, to: number, { title, address }: Target): void {
  const insert = `[${title.replace(/[\\[\]]/g, '\\$&')}](${address})`;
  view.dispatch({ changes: { from, to, insert }, selection: { anchor: from + insert.length }, userEvent: 'input', scrollIntoView: true });
}
