/** The keyboard map: what each key does on this screen, and one listener that does it. Silent while somebody types. */
import { useEffect, useSyncExternalStore } from 'react';
import { hasDialog, isTyping } from '@/ui/rows';
import type { MessageKey } from '@/i18n/messages';

export interface Shortcut {
  /** A letter, or two in a row: `g n`. */
  keys: string;
  label: MessageKey;
  run: () => void;
}

const CHORD_MILLISECONDS = 900;
let active: Shortcut[] = [];
const listeners = new Set<() => void>();

function change(next: Shortcut[]): void {
  active = next;
  listeners.forEach((tell) => tell());
}

/** Offer shortcuts while the calling component is on screen. Where two have the same keys, those of a page win over the frame's. */
export function useShortcuts(shortcuts: Shortcut[], of: 'page' | 'frame' = 'page'): void {
  const signature = shortcuts.map((one) => one.keys).join();
  useEffect(() => {
    change(of === 'frame' ? [...shortcuts, ...active] : [...active, ...shortcuts]);
    return () => change(active.filter((one) => !shortcuts.includes(one)));
    // The handlers close over the first render; they navigate or set state and do not grow stale.
    // eslint-disable-next-line hooks/exhaustive-deps
  }, [signature]);
}

export const useActiveShortcuts = (): Shortcut[] =>
  useSyncExternalStore(
    (tell) => (listeners.add(tell), () => listeners.delete(tell)),
    () => active,
  );

/** Listen; called once by the shell. */
export function useKeyboard(): void {
  useEffect(() => {
    let first = '';
    let at = 0;
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || hasDialog()) return;
      const chord = first && Date.now() - at < CHORD_MILLISECONDS ? `${first} ${event.key.toLowerCase()}` : '';
      const found =
        active.findLast((one) => one.keys === chord) ??
        active.findLast((one) => one.keys === event.key || one.keys === event.key.toLowerCase());
      first = event.key.toLowerCase();
      at = Date.now();
      if (!found) return;
      event.preventDefault();
      first = '';
      found.run();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}
