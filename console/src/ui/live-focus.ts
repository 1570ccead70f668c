/** Where the caret is, as far as the drawing of a text asks: what it stands in is shown as it is written. */
import { type EditorState, type Extension, StateEffect, StateField } from '@codemirror/state';
import { type EditorView, ViewPlugin } from '@codemirror/view';

export const setFocus = StateEffect.define<boolean>();

/** Whether the text has the focus: without it no element is the caret's, and everything is drawn. */
export const focus = StateField.define<boolean>({
  create: () => false,
  update: (before, { effects }) => (effects.find((effect) => effect.is(setFocus))?.value as boolean | undefined) ?? before,
});

/** Whether the caret or a part of the selection is at these characters. */
export const isHeld = (state: EditorState, from: number, to: number): boolean =>
  state.field(focus) && state.selection.ranges.some((range) => range.from <= to && range.to >= from);

/** Looks at every update: CodeMirror's own effect of a change of focus is lost where another one comes between. */
const watch = ViewPlugin.fromClass(
  class {
    constructor(view: EditorView) {
      this.look(view);
    }

    update({ view }: { view: EditorView }): void {
      this.look(view);
    }

    private look(view: EditorView): void {
      if (view.hasFocus === view.state.field(focus)) return;
      // An update may not start another one.
      queueMicrotask(() => {
        if (view.hasFocus !== view.state.field(focus)) view.dispatch({ effects: setFocus.of(view.hasFocus) });
      });
    }
  },
);

export const focusKept: Extension = [focus, watch];
