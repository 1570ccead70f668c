/** How a text looks while it is written: in the sizes of `.prose`, so that nothing moves when the editor replaces the reading view. */
import { HighlightStyle } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const MONO = 'var(--font-mono)';

/** What both modes have in common. */
const words = [
  { tag: tags.strong, fontWeight: 'bolder' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: tags.strikethrough, textDecoration: 'line-through' },
  { tag: [tags.processingInstruction, tags.contentSeparator], color: 'var(--text-muted)' },
];
export const drawnColours = HighlightStyle.define(words);
export const sourceColours = HighlightStyle.define([
  ...words,
  { tag: tags.heading, fontWeight: '650' },
  { tag: tags.link, color: 'var(--accent-text)' },
  { tag: [tags.url, tags.quote], color: 'var(--text-muted)' },
  { tag: tags.monospace, color: 'var(--info)' },
]);

export const look = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'transparent', fontSize: '.9375rem' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-stack)', lineHeight: '1.6', overflowX: 'hidden' },
  '.cm-content': { padding: '0 0 6rem', caretColor: 'var(--accent)', minHeight: '16rem', overflowWrap: 'anywhere' },
  '.cm-line': { padding: '0' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)', borderLeftWidth: '2px' },
  '.cm-placeholder': { color: 'var(--text-muted)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--accent-soft)',
  },
});

export const sourceLook = EditorView.theme({ '.cm-scroller': { fontFamily: MONO, fontSize: '.875rem' } });

/** Six levels of the same, as a list can be nested. */
const levels = (name: string, property: string) =>
  Object.fromEntries([1, 2, 3, 4, 5, 6].map((level) => [`.cm-line.${name}-${level}`, { [property]: String(level) }]));

export const drawnLook = EditorView.theme({
  '.cm-line': {
    paddingInlineStart: 'calc(var(--depth, 0) * 1.4em)',
    textIndent: 'calc(var(--depth, 0) * -1.4em)',
  },
  ...levels('cm-depth', '--depth'),
  ...levels('cm-quotes', '--quotes'),
  '.cm-line.cm-lazy': { textIndent: '0' },
  '.cm-prefix, .cm-indent': { display: 'inline-block', minWidth: '1.4em', textIndent: '0' },
  ...Object.fromEntries([2, 3, 4, 5, 6].map((level) => [`.cm-indent-${level}`, { minWidth: `${level * 1.4}em` }])),
  '.cm-bullet': { textAlign: 'center', color: 'var(--text-muted)' },
  '.cm-task input': {
    width: '.875rem',
    height: '.875rem',
    margin: '0',
    verticalAlign: 'middle',
    accentColor: 'var(--accent)',
    cursor: 'pointer',
  },
  '.cm-line.cm-heading': { fontWeight: '620', lineHeight: '1.3', fontSize: '1rem' },
  '.cm-line.cm-h1': { fontSize: '1.375rem' },
  '.cm-line.cm-h2': { fontSize: '1.125rem' },
  '.cm-line.cm-flat': { fontSize: '1px', lineHeight: '1px' },
  '.cm-line.cm-quote': {
    borderInlineStart: '3px solid var(--border)',
    paddingInlineStart: 'calc(var(--quotes) * (1em + 3px) - 3px + var(--depth, 0) * 1.4em)',
    color: 'var(--text-muted)',
  },
  '.cm-link': { color: 'var(--accent-text)', textDecoration: 'underline', textUnderlineOffset: '2px' },
  '.cm-inline-code, .cm-table code': {
    font: `.875em ${MONO}`,
    backgroundColor: 'var(--surface-2)',
    padding: '.1em .3em',
    borderRadius: '4px',
  },
  '.cm-line.cm-code': { font: `.875em/1.5rem ${MONO}`, backgroundColor: 'var(--surface-2)', paddingInline: '1.143em', textIndent: '0' },
  '.cm-line.cm-code-first': { borderTopLeftRadius: 'var(--radius)', borderTopRightRadius: 'var(--radius)' },
  '.cm-line.cm-code-last': { borderBottomLeftRadius: 'var(--radius)', borderBottomRightRadius: 'var(--radius)' },
  '.cm-line.cm-fence': { fontSize: '8px', lineHeight: '.75rem' },
  '.cm-rule': {
    display: 'inline-block',
    width: '100%',
    height: '1px',
    verticalAlign: 'middle',
    backgroundColor: 'var(--border)',
  },
  'img.cm-picture': { maxWidth: '100%', maxHeight: '40rem', verticalAlign: 'middle' },
  '.cm-table': { overflowX: 'auto', overflowWrap: 'normal' },
  '.cm-table table': { borderCollapse: 'collapse' },
  '.cm-table td, .cm-table th': { border: '1px solid var(--border)', padding: '.3em .7em', textAlign: 'start', fontWeight: 'inherit' },
  '.cm-table th': { backgroundColor: 'var(--surface-2)', fontWeight: '600' },
  '.cm-table u': { color: 'var(--accent-text)', textUnderlineOffset: '2px' },
});
