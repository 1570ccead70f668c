/** Opens the link under the pointer while Ctrl or Cmd is held; without it a click places the caret. */
import { syntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import type { SyntaxNode } from '@lezer/common';
import { isSafeAddress } from './addresses';

/** Where the link at this place leads. */
export function addressAt(state: EditorState, at: number): string | null {
  let node: SyntaxNode | null = syntaxTree(state).resolveInner(at, 1);
  while (node && !['Link', 'Autolink', 'URL'].includes(node.name)) node = node.parent;
  const url = node?.name === 'URL' ? node : node?.getChild('URL');
  const address = url && state.sliceDoc(url.from, url.to).replace(/^<|>$/g, '');
  return address && isSafeAddress(address) ? address : null;
}

export const followLinks = EditorView.domEventHandlers({
  mousedown: (event, view) => {
    if (!(event.ctrlKey || event.metaKey) || event.button !== 0) return false;
    const at = view.posAtCoords(event);
    const address = at === null ? null : addressAt(view.state, at);
    if (address === null) return false;
    event.preventDefault();
    if (/^[#/]/.test(address)) location.assign(address);
    else window.open(address, '_blank', 'noopener,noreferrer');
    return true;
  },
});
