/** What stands in the place of marks while they are hidden. */
import type { EditorState } from '@codemirror/state';
import { type EditorView, WidgetType } from '@codemirror/view';
import type { SyntaxNode } from '@lezer/common';
import { isOwnPicture } from './addresses';
import { tick } from './marking';

function element<Name extends keyof HTMLElementTagNameMap>(name: Name, className = '', text = ''): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}

export class Bullet extends WidgetType {
  override eq = (): boolean => true;

  toDOM = (): HTMLElement => element('span', 'cm-prefix cm-bullet', '•');

  override ignoreEvent = (): boolean => false;
}

export class Rule extends WidgetType {
  override eq = (): boolean => true;

  toDOM = (): HTMLElement => element('span', 'cm-rule');

  override ignoreEvent = (): boolean => false;
}

/** A box that can be ticked: one character of the text changes. */
export class TaskBox extends WidgetType {
  constructor(
    private readonly done: boolean,
    private readonly label: string,
  ) {
    super();
  }

  override eq = (other: TaskBox): boolean => other.done === this.done && other.label === this.label;

  toDOM(view: EditorView): HTMLElement {
    const box = element('input');
    box.type = 'checkbox';
    box.checked = this.done;
    box.ariaLabel = this.label;
    // The caret stays where it is, and Mod-Enter does the same from the keyboard.
    box.tabIndex = -1;
    const whole = element('span', 'cm-prefix cm-task');
    whole.append(box);
    whole.addEventListener('mousedown', (event) => event.preventDefault());
    box.addEventListener('click', (event) => {
      event.preventDefault();
      tick(view, view.posAtDOM(whole));
    });
    return whole;
  }
}

/** A picture of this instance, or the words that stand for another one. */
export class Picture extends WidgetType {
  constructor(
    private readonly words: string,
    private readonly address: string,
  ) {
    super();
  }

  override eq = (other: Picture): boolean => other.words === this.words && other.address === this.address;

  toDOM(): HTMLElement {
    if (!isOwnPicture(this.address)) return element('span', 'cm-picture', this.words || this.address);
    const picture = element('img', 'cm-picture');
    picture.alt = this.words;
    picture.src = this.address;
    return picture;
  }

  override ignoreEvent = (): boolean => false;
}

const ELEMENTS: Partial<Record<string, 'strong' | 'em' | 'del' | 'code' | 'u'>> = {
  StrongEmphasis: 'strong',
  Emphasis: 'em',
  Strikethrough: 'del',
  InlineCode: 'code',
  Link: 'u',
};
/** The inline content of a node as elements, without its marks. */
function fill(into: HTMLElement, node: SyntaxNode, state: EditorState): void {
  const [opening, closing] = node.name === 'Link' ? node.getChildren('LinkMark') : [];
  const end = closing?.from ?? node.to;
  let at = opening?.to ?? node.from;
  const say = (to: number) => to > at && into.append(state.sliceDoc(at, to));
  for (let child = node.firstChild; child && child.from < end; child = child.nextSibling) {
    if (child.from < at) continue;
    say(child.from);
    at = child.to;
    const name = ELEMENTS[child.name];
    if (name && (child.name !== 'Link' || child.getChild('URL'))) {
      const inner = element(name);
      fill(inner, child, state);
      into.append(inner);
    } else if (!child.name.endsWith('Mark')) into.append(state.sliceDoc(child.from + Number(child.name === 'Escape'), child.to));
  }
  say(end);
}

/** A table, its cells as they will be read. */
export class Grid extends WidgetType {
  private constructor(
    private readonly source: string,
    private readonly make: () => HTMLElement,
  ) {
    super();
  }

  static of(state: EditorState, table: SyntaxNode): Grid {
    return new Grid(state.sliceDoc(table.from, table.to), () => tableOf(state, table));
  }

  override eq = (other: Grid): boolean => other.source === this.source;

  toDOM = (): HTMLElement => this.make();

  override ignoreEvent = (): boolean => false;

  override get estimatedHeight(): number {
    return (this.source.split('\n').length - 1) * 34;
  }
}

function tableOf(state: EditorState, table: SyntaxNode): HTMLElement {
  const frame = element('div', 'cm-table');
  const grid = element('table');
  for (let row = table.firstChild; row; row = row.nextSibling) {
    if (row.name !== 'TableHeader' && row.name !== 'TableRow') continue;
    const line = grid.insertRow();
    for (const cell of cellsOf(row)) {
      const box = element(row.name === 'TableHeader' ? 'th' : 'td');
      if (cell) fill(box, cell, state);
      line.append(box);
    }
  }
  frame.append(grid);
  return frame;
}

/** The cells of a row; a cell without a word is no node, only the place between two delimiters. */
function cellsOf(row: SyntaxNode): (SyntaxNode | null)[] {
  const cells: (SyntaxNode | null)[] = [];
  let open = true;
  for (let child = row.firstChild; child; child = child.nextSibling) {
    if (child.name === 'TableCell') {
      cells.push(child);
      open = false;
    } else if (child.name === 'TableDelimiter') {
      if (open && child.from > row.from) cells.push(null);
      open = true;
    }
  }
  return cells;
}
