/** Tables, drawn where the caret is not: only near the visible text, for a long text has thousands. */
import { ensureSyntaxTree, syntaxTree } from '@codemirror/language';
import { type EditorState, type Extension, type Range, StateEffect, StateField, type Transaction } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, ViewPlugin, type ViewUpdate } from '@codemirror/view';
import { isHeld, setFocus } from './live-focus';
import { Grid } from './live-widgets';

/** How far a change or the caret can alter what is drawn around it, in characters. */
const NEAR = 2000;

/** How long the first screen may take to parse; the rest is parsed in the pauses. */
const PATIENCE_MILLISECONDS = 500;

/** The tree of the first screen, whole: a part that is drawn a moment later would move what is below it. */
export const firstTree = (state: EditorState) =>
  ensureSyntaxTree(state, Math.min(state.doc.length, NEAR * 2), PATIENCE_MILLISECONDS) ?? syntaxTree(state);

interface Place {
  from: number;
  to: number;
}

/** The tables that begin and end between two places and do not hold the caret. */
function tablesBetween(state: EditorState, from: number, to: number, tree = syntaxTree(state)): Range<Decoration>[] {
  const found: Range<Decoration>[] = [];
  tree.iterate({
    from,
    to,
    enter: (node) => {
      if (node.name !== 'Table') return node.name === 'Document';
      const start = state.doc.lineAt(node.from).from;
      const end = state.doc.lineAt(node.to).to;
      if (start >= from && end <= to && !isHeld(state, start, end)) {
        found.push(Decoration.replace({ widget: Grid.of(state, node.node), block: true }).range(start, end));
      }
      return false;
    },
  });
  return found;
}

const lookAgain = StateEffect.define<Place>();

/** Whole lines, so that no table is cut. */
function around(state: EditorState, from: number, to: number): Place {
  const start = state.doc.lineAt(Math.max(0, Math.min(from, state.doc.length) - NEAR)).from;
  return { from: start, to: state.doc.lineAt(Math.min(state.doc.length, to + NEAR)).to };
}

/** Where a transaction may have changed which tables are drawn. */
function touchedBy({ changes, state, startState, selection, effects, docChanged }: Transaction): Place[] {
  const places: Place[] = effects.filter((effect) => effect.is(lookAgain)).map((effect) => effect.value);
  changes.iterChangedRanges((_from, _to, from, to) => places.push(around(state, from, to)));
  if (selection || docChanged || effects.some((effect) => effect.is(setFocus))) {
    for (const { from, to } of state.selection.ranges) places.push(around(state, from, to));
    for (const { from, to } of startState.selection.ranges) places.push(around(state, changes.mapPos(from), changes.mapPos(to)));
  }
  return places;
}

/** Block widgets must come from the state, which does not know what is visible; `watch` tells it. */
const drawn = StateField.define<DecorationSet>({
  create: (state) => Decoration.set(tablesBetween(state, 0, Math.min(state.doc.length, NEAR * 2), firstTree(state)), true),
  update: (before, transaction) => {
    let set = before.map(transaction.changes);
    for (const { from, to } of touchedBy(transaction)) {
      const add = tablesBetween(transaction.state, from, to);
      set = set.update({ filter: (start, end) => end < from || start > to, filterFrom: from, filterTo: to, add, sort: true });
    }
    return set;
  },
  provide: (field) => EditorView.decorations.from(field),
});

const placesOf = (ranges: Range<Decoration>[]): string => ranges.map(({ from, to }) => `${from}-${to}`).join();

/** Has the tables near the visible text drawn, once it was parsed or scrolled to. */
const watch = ViewPlugin.fromClass(
  class {
    private waiting = false;

    constructor(view: EditorView) {
      this.look(view);
    }

    update({ view, viewportChanged, startState, state }: ViewUpdate): void {
      if (viewportChanged || syntaxTree(startState) !== syntaxTree(state)) this.look(view);
    }

    destroy(): void {
      this.waiting = true;
    }

    private look(view: EditorView): void {
      if (this.waiting || !this.differs(view)) return;
      this.waiting = true;
      // An update may not start another one.
      setTimeout(() => {
        if (!view.dom.isConnected) return;
        this.waiting = false;
        view.dispatch({ effects: lookAgain.of(this.place(view)) });
      });
    }

    private place({ state, viewport }: EditorView): Place {
      return { from: state.doc.lineAt(viewport.from).from, to: state.doc.lineAt(viewport.to).to };
    }

    private differs(view: EditorView): boolean {
      const { from, to } = this.place(view);
      const there: Range<Decoration>[] = [];
      view.state.field(drawn).between(from, to, (start, end, value) => {
        if (start >= from && end <= to) there.push(value.range(start, end));
      });
      return placesOf(there) !== placesOf(tablesBetween(view.state, from, to));
    }
  },
);

export const tables: Extension = [drawn, watch];
