/** A menu at the caret: what is typed opens and narrows it, the arrows choose, Enter takes, Escape leaves the text as it is. */
import { syntaxTree } from '@codemirror/language';
import { type EditorState, type Extension, Prec, StateEffect, StateField, type Transaction } from '@codemirror/state';
import { EditorView, keymap, ViewPlugin, type ViewUpdate } from '@codemirror/view';
import type { SyntaxNode } from '@lezer/common';

export interface Choice {
  label: string;
  /** Takes the place of what was typed. */
  run: (view: EditorView, from: number, to: number) => void;
}

export interface Menu {
  label: string;
  /** Matches the line before the caret; its group is what narrows the menu. */
  opens: RegExp;
  choices: (typed: string) => readonly Choice[] | Promise<readonly Choice[]>;
}

interface Open {
  menu: Menu;
  from: number;
  typed: string;
  /** Empty until they are found. */
  choices: readonly Choice[];
  at: number;
}

const ID = 'editor-menu';
const close = StateEffect.define<null>();
const move = StateEffect.define<number>();
const offer = StateEffect.define<{ menu: Menu; typed: string; choices: readonly Choice[] }>();

/** What was typed for this menu, and where it begins. */
function typedFor(menu: Menu, state: EditorState): { from: number; typed: string } | null {
  const { head, empty } = state.selection.main;
  const line = state.doc.lineAt(head);
  const found = empty ? menu.opens.exec(line.text.slice(0, head - line.from)) : null;
  if (!found || isCode(state, line.from + found.index)) return null;
  return { from: line.from + found.index, typed: found[1]! };
}

function isCode(state: EditorState, at: number): boolean {
  let node: SyntaxNode | null = syntaxTree(state).resolveInner(at, 1);
  while (node && !node.name.includes('Code')) node = node.parent;
  return node !== null;
}

/** A menu opens when its mark was typed just now; a caret that comes by opens none. */
function opened(menus: readonly Menu[], transaction: Transaction): Open | null {
  if (!transaction.docChanged || !transaction.isUserEvent('input.type')) return null;
  for (const menu of menus) {
    const found = typedFor(menu, transaction.state);
    if (found?.typed === '') return { menu, ...found, choices: [], at: 0 };
  }
  return null;
}

function followed(open: Open, { state, docChanged, selection, effects }: Transaction): Open | null {
  let next = open;
  if (docChanged || selection) {
    const found = typedFor(open.menu, state);
    if (found?.from !== open.from) return null;
    if (found.typed !== open.typed) next = { ...open, ...found, choices: [], at: 0 };
  }
  for (const effect of effects) {
    if (effect.is(close)) return null;
    if (effect.is(move)) next = { ...next, at: (next.at + effect.value + next.choices.length) % next.choices.length };
    if (effect.is(offer) && effect.value.menu === next.menu && effect.value.typed === next.typed) {
      next = { ...next, choices: effect.value.choices };
    }
  }
  return next;
}

type Field = StateField<Open | null>;

function take(view: EditorView, { from, choices }: Open, at: number): void {
  const to = view.state.selection.main.head;
  view.dispatch({ effects: close.of(null) });
  choices[at]!.run(view, from, to);
}

/** A key of the menu, where it is open and has something to choose. */
const onOpen = (field: Field, key: string, run: (view: EditorView, open: Open) => void) => ({
  key,
  run: (view: EditorView) => {
    const open = view.state.field(field);
    if (!open?.choices.length) return false;
    run(view, open);
    return true;
  },
});

const keysOf = (field: Field) =>
  Prec.highest(
    keymap.of([
      onOpen(field, 'ArrowDown', (view) => view.dispatch({ effects: move.of(1) })),
      onOpen(field, 'ArrowUp', (view) => view.dispatch({ effects: move.of(-1) })),
      onOpen(field, 'Enter', (view, open) => take(view, open, open.at)),
      onOpen(field, 'Tab', (view, open) => take(view, open, open.at)),
      onOpen(field, 'Escape', (view) => view.dispatch({ effects: close.of(null) })),
    ]),
  );

/** The list itself, and the search for what is in it. */
const listOf = (field: Field) =>
  ViewPlugin.fromClass(
    class {
      private readonly list = document.createElement('ul');

      constructor(private readonly view: EditorView) {
        this.list.className = 'cm-menu';
        this.list.id = ID;
        this.list.role = 'listbox';
        this.list.hidden = true;
        view.dom.append(this.list);
      }

      update({ startState, state, focusChanged, view }: ViewUpdate): void {
        const [before, open] = [startState.field(field), state.field(field)];
        if (open && focusChanged && !view.hasFocus) return void queueMicrotask(() => view.dispatch({ effects: close.of(null) }));
        if (open === before) return;
        if (open && (open.menu !== before?.menu || open.typed !== before.typed)) void this.find(open);
        this.draw(open);
      }

      destroy(): void {
        this.list.remove();
      }

      private async find({ menu, typed }: Open): Promise<void> {
        const choices = await menu.choices(typed);
        if (this.list.isConnected) this.view.dispatch({ effects: offer.of({ menu, typed, choices }) });
      }

      private draw(open: Open | null): void {
        this.list.hidden = !open?.choices.length;
        if (!open?.choices.length) return this.list.replaceChildren();
        this.list.ariaLabel = open.menu.label;
        this.list.replaceChildren(...open.choices.map((choice, at) => this.row(open, choice, at)));
        this.list.children[open.at]!.scrollIntoView({ block: 'nearest' });
        this.place(open.from);
      }

      private row(open: Open, { label }: Choice, at: number): HTMLElement {
        const row = document.createElement('li');
        row.id = `${ID}-${at}`;
        row.role = 'option';
        row.ariaSelected = String(at === open.at);
        row.textContent = label;
        // Before the text loses the focus.
        row.addEventListener('mousedown', (event) => {
          event.preventDefault();
          take(this.view, open, at);
        });
        return row;
      }

      private place(from: number): void {
        this.view.requestMeasure({
          key: this,
          read: (view) => ({
            caret: view.coordsAtPos(from),
            frame: view.dom.getBoundingClientRect(),
            width: this.list.offsetWidth,
            height: this.list.offsetHeight + 4,
          }),
          write: ({ caret, frame, width, height }) => {
            if (!caret) return;
            // Above the line where the window ends below it.
            const above = caret.bottom + height > innerHeight && caret.top > height;
            this.list.style.top = `${(above ? caret.top - height : caret.bottom + 4) - frame.top}px`;
            this.list.style.left = `${Math.max(0, Math.min(caret.left - frame.left, frame.width - width))}px`;
          },
        });
      }
    },
  );

const look = EditorView.theme({
  '.cm-menu': {
    position: 'absolute',
    zIndex: '20',
    margin: '0',
    padding: '4px',
    minWidth: '12rem',
    maxWidth: '100%',
    maxHeight: '17rem',
    overflowY: 'auto',
    listStyle: 'none',
    boxSizing: 'border-box',
    border: '1px solid var(--border)',
    borderRadius: 'var(--radius)',
    backgroundColor: 'var(--surface)',
    boxShadow: 'var(--shadow-pop)',
  },
  '.cm-menu[hidden]': { display: 'none' },
  '.cm-menu li': {
    padding: '.3rem .6rem',
    borderRadius: '6px',
    cursor: 'pointer',
    overflow: 'hidden',
    textOverflow: 'ellipsis',
    whiteSpace: 'nowrap',
  },
  '.cm-menu li[aria-selected=true]': { backgroundColor: 'var(--surface-2)' },
});

export function editorMenus(menus: readonly Menu[]): Extension {
  const field: Field = StateField.define<Open | null>({
    create: () => null,
    update: (open, transaction) => (open ? followed(open, transaction) : opened(menus, transaction)),
  });
  const told = EditorView.contentAttributes.compute([field], (state): Record<string, string> => {
    const open = state.field(field);
    return open?.choices.length ? { 'aria-controls': ID, 'aria-activedescendant': `${ID}-${open.at}` } : {};
  });
  return [field, keysOf(field), listOf(field), told, look];
}
