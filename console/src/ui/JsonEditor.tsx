/** A JSON editor in a shadow root, as the Markdown editor; lines with a problem are marked. Tab leaves it. */
import { history } from '@codemirror/commands';
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from '@codemirror/language';
import { EditorState, StateEffect, StateField } from '@codemirror/state';
import { Decoration, drawSelection, EditorView, keymap, lineNumbers, type DecorationSet } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';
import { editorKeys } from './editor-keys';

const json = StreamLanguage.define<null>({
  startState: () => null,
  token: (stream) => {
    if (stream.eatSpace()) return null;
    if (stream.match(/^"(?:[^"\\]|\\.)*"(?=\s*:)/)) return 'propertyName';
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return 'string';
    if (stream.match(/^(?:true|false|null|-?\d[\d.eE+-]*)/)) return 'number';
    stream.next();
    return null;
  },
});
const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent-text)' },
  { tag: tags.string, color: 'var(--success)' },
  { tag: tags.number, color: 'var(--warning)' },
]);
const look = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'transparent', fontSize: '13px', height: '100%' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'ui-monospace, "SF Mono", "DejaVu Sans Mono", monospace', lineHeight: '1.6', overflow: 'auto' },
  '.cm-content': { padding: '10px 0', caretColor: 'var(--accent)' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--text-muted)', border: 'none' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)', borderLeftWidth: '2px' },
  '.cm-problem': { backgroundColor: 'color-mix(in srgb, var(--danger) 14%, transparent)', boxShadow: 'inset 3px 0 var(--danger)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--accent-soft)',
  },
});

const markLines = StateEffect.define<readonly number[]>();
const marked = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (before, { effects, changes, state }) => {
    const lines = effects.find((effect) => effect.is(markLines))?.value as readonly number[] | undefined;
    if (!lines) return before.map(changes);
    const found = [...new Set(lines)].filter((line) => line >= 1 && line <= state.doc.lines).sort((one, other) => one - other);
    return Decoration.set(found.map((line) => Decoration.line({ class: 'cm-problem' }).range(state.doc.line(line).from)));
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** A line to show; another object asks for it again. */
export interface Aim {
  line: number;
}

interface Props {
  value: string;
  onChange: (text: string) => void;
  label: string;
  /** The lines that are marked. */
  problems: readonly number[];
  aim?: Aim | null;
}

/** Takes its text once; a new text needs a new `key`. */
export default function JsonEditor({ value, onChange, label, problems, aim = null }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(null);
  const changed = useRef(onChange);
  const first = useRef({ value, label });
  useEffect(() => {
    changed.current = onChange;
  }, [onChange]);
  useEffect(() => {
    if (!host.current) return;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
    const mount = document.createElement('div');
    mount.style.height = '100%';
    root.append(mount);
    const extensions = [
      lineNumbers(),
      history(),
      drawSelection(),
      json,
      syntaxHighlighting(colours),
      look,
      marked,
      EditorView.contentAttributes.of({ 'aria-label': first.current.label, spellcheck: 'false', autocapitalize: 'off', tabindex: '0' }),
      keymap.of(editorKeys),
      EditorView.updateListener.of((update) => update.docChanged && changed.current(update.state.doc.toString())),
    ];
    const view = new EditorView({ parent: mount, root, state: EditorState.create({ doc: first.current.value, extensions }) });
    editor.current = view;
    return () => {
      editor.current = null;
      view.destroy();
      mount.remove();
    };
  }, []);
  const lines = problems.join();
  useEffect(() => {
    editor.current?.dispatch({ effects: markLines.of(lines ? lines.split(',').map(Number) : []) });
  }, [lines]);
  useEffect(() => {
    const view = editor.current;
    if (!view || !aim) return;
    const { from } = view.state.doc.line(Math.max(1, Math.min(view.state.doc.lines, aim.line)));
    view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) });
    view.focus();
  }, [aim]);
  return <div ref={host} data-editor data-raw className="h-full" />;
}
