/** The keys of an editor, whatever it edits; only those that people use, for each command weighs on the first visit. */
import { historyKeymap, indentLess, indentMore, moveLineDown, moveLineUp, standardKeymap } from '@codemirror/commands';
import type { KeyBinding } from '@codemirror/view';

export const editorKeys: readonly KeyBinding[] = [
  { key: 'Alt-ArrowUp', run: moveLineUp },
  { key: 'Alt-ArrowDown', run: moveLineDown },
  { key: 'Mod-[', run: indentLess },
  { key: 'Mod-]', run: indentMore },
  ...standardKeymap,
  ...historyKeymap,
];
