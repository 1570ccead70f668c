/** A Markdown editor in a shadow root: there CodeMirror styles itself by constructed sheets, so the strict policy holds. */
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { defineLanguageFacet, HighlightStyle, Language, languageDataProp, LanguageSupport, syntaxHighlighting } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, keymap, placeholder as placeholderOf } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { GFM, parser } from '@lezer/markdown';
import { useEffect, useRef } from 'react';

const facet = defineLanguageFacet({});
const markdown = new LanguageSupport(
  new Language(facet, parser.configure([GFM, { props: [languageDataProp.add({ Document: facet })] }]), [], 'markdown'),
);
const colours = HighlightStyle.define([
  { tag: tags.heading, fontWeight: '650' },
  { tag: tags.heading1, fontWeight: '650', fontSize: '1.25em' },
  { tag: tags.heading2, fontWeight: '650', fontSize: '1.12em' },
  { tag: tags.strong, fontWeight: '650' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: tags.strikethrough, textDecoration: 'line-through' },
  { tag: tags.link, color: 'var(--accent-text)' },
  { tag: [tags.url, tags.processingInstruction, tags.quote, tags.contentSeparator], color: 'var(--text-muted)' },
  { tag: tags.monospace, fontFamily: 'ui-monospace, monospace', fontSize: '.9em', color: 'var(--info)' },
]);
const look = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'transparent', fontSize: '15px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-stack)', lineHeight: '1.65', overflowX: 'hidden' },
  '.cm-content': { padding: '2px 0 6rem', caretColor: 'var(--accent)', minHeight: '16rem' },
  '.cm-line': { padding: '0' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)', borderLeftWidth: '2px' },
  '.cm-placeholder': { color: 'var(--text-muted)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--accent-soft)',
  },
});

interface Props {
  value: string;
  onChange: (text: string) => void;
  label: string;
  placeholder?: string;
}

/** Takes its text once; a new text needs a new `key`. */
export default function MarkdownEditor({ value, onChange, label, placeholder = '' }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const changed = useRef(onChange);
  const first = useRef({ value, label, placeholder });
  useEffect(() => {
    changed.current = onChange;
  }, [onChange]);
  useEffect(() => {
    if (!host.current) return;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
    const mount = document.createElement('div');
    root.append(mount);
    const extensions = [
      history(),
      drawSelection(),
      markdown,
      syntaxHighlighting(colours),
      look,
      EditorView.lineWrapping,
      placeholderOf(first.current.placeholder),
      EditorView.contentAttributes.of({ 'aria-label': first.current.label, spellcheck: 'true', autocapitalize: 'sentences' }),
      keymap.of([...defaultKeymap, ...historyKeymap]),
      EditorView.updateListener.of((update) => update.docChanged && changed.current(update.state.doc.toString())),
    ];
    const view = new EditorView({ parent: mount, root, state: EditorState.create({ doc: first.current.value, extensions }) });
    return () => {
      view.destroy();
      mount.remove();
    };
  }, []);
  return <div ref={host} data-editor data-raw />;
}
