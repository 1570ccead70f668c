/** A Markdown editor in a shadow root: there CodeMirror styles itself by constructed sheets, so the strict policy holds. */
import { history } from '@codemirror/commands';
import { syntaxHighlighting } from '@codemirror/language';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, keymap, placeholder as placeholderOf } from '@codemirror/view';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useLanguage } from '@/i18n/language';
import { editorKeys } from './editor-keys';
import { EditorBar } from './EditorBar';
import { followLinks } from './follow-links';
import { editorMenus } from './editor-menu';
import { lineBreakOf, withLineBreak } from './line-breaks';
import { focusKept } from './live-focus';
import { livePreview } from './live-preview';
import { drawnColours, drawnLook, look, sourceColours, sourceLook } from './markdown-look';
import { markdown } from './markdown-language';
import { COMMANDS, KEYS, type Marking } from './marking';
import { linksMenu, marksMenu, type Target } from './writing-menus';

/** How the text is shown: drawn as it will be read, or as it is written. */
type Mode = 'drawn' | 'source';
const MODE = 'atrium.editor_mode';
const readMode = (): Mode => (localStorage.getItem(MODE) === 'source' ? 'source' : 'drawn');
const shown = new Compartment();
const showing = (mode: Mode, taskLabel: string): Extension =>
  mode === 'source'
    ? [sourceLook, syntaxHighlighting(sourceColours)]
    : [drawnLook, syntaxHighlighting(drawnColours), livePreview(taskLabel), followLinks];

interface Props {
  value: string;
  onChange: (text: string) => void;
  label: string;
  placeholder?: string;
  /** What a link can lead to, by the words of its title. */
  onFind?: (typed: string) => Promise<readonly Target[]>;
}

/** Takes its text once; a new text needs a new `key`. */
export default function MarkdownEditor({ value, onChange, label, placeholder = '', onFind }: Props) {
  const { t } = useLanguage();
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(null);
  const changed = useRef(onChange);
  const [mode, setMode] = useState(readMode);
  const current = useRef(mode);
  const turn = useRef(() => {});
  const menus = () => [
    marksMenu(t('writing.marks'), (name) => t(`writing.mark_${name}`)),
    ...(onFind ? [linksMenu(t('writing.link_notes'), onFind)] : []),
  ];
  const first = useRef({ value, label, placeholder, mode, menus, task: t('writing.task_done') });
  useEffect(() => {
    changed.current = onChange;
    turn.current = () => {
      // What the text shows now and not what was drawn last: a second key may come before React has drawn the first.
      const next = current.current === 'source' ? 'drawn' : 'source';
      current.current = next;
      localStorage.setItem(MODE, next);
      setMode(next);
      editor.current?.dispatch({ effects: shown.reconfigure(showing(next, first.current.task)) });
    };
  });
  // Before the next paint: the text to read has left with the same commit.
  useLayoutEffect(() => {
    if (!host.current) return;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
    const mount = document.createElement('div');
    root.append(mount);
    const extensions = [
      history(),
      drawSelection(),
      markdown,
      // In both modes: one who comes back from the source has the focus all along.
      focusKept,
      shown.of(showing(first.current.mode, first.current.task)),
      look,
      editorMenus(first.current.menus()),
      EditorView.lineWrapping,
      placeholderOf(first.current.placeholder),
      EditorView.contentAttributes.of({ 'aria-label': first.current.label, spellcheck: 'true', autocapitalize: 'sentences' }),
      keymap.of([{ key: 'Mod-/', run: () => (turn.current(), true) }, ...KEYS, ...editorKeys]),
      // By the text: with CodeMirror's own guess the first keystroke would make every CRLF a LF.
      EditorState.lineSeparator.of(lineBreakOf(first.current.value)),
      EditorView.clipboardInputFilter.of((text, state) => withLineBreak(text, state.lineBreak)),
      EditorView.updateListener.of((update) => update.docChanged && changed.current(update.state.sliceDoc())),
    ];
    const view = new EditorView({ parent: mount, root, state: EditorState.create({ doc: first.current.value, extensions }) });
    editor.current = view;
    return () => {
      editor.current = null;
      view.destroy();
      mount.remove();
    };
  }, []);
  return (
    <>
      <EditorBar source={mode === 'source'} onTurn={() => turn.current()} onMark={(name) => mark(editor.current, name)} />
      <div ref={host} data-editor data-raw />
    </>
  );
}

function mark(view: EditorView | null, name: Marking): void {
  if (!view) return;
  COMMANDS[name](view);
  view.focus();
}
