/** J and K walk through the rows of a list; each row is focusable and marked with data-row. */
import { useEffect, type RefObject } from 'react';

export const isTyping = (target: EventTarget | null): boolean => {
  const element = target instanceof HTMLElement ? target : null;
  return (
    !!element &&
    (element.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName) || element.shadowRoot?.activeElement != null)
  );
};

export const hasDialog = (): boolean => document.querySelector('[role=dialog],[role=menu]') !== null;

export function useRowKeys(list: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const walk = (event: KeyboardEvent) => {
      if (!/^[jk]$/i.test(event.key) || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || hasDialog()) return;
      const rows = [...(list.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])];
      const at = rows.findIndex((row) => row === document.activeElement || row.contains(document.activeElement));
      const next = at < 0 ? 0 : at + (event.key.toLowerCase() === 'j' ? 1 : -1);
      rows[Math.max(0, Math.min(rows.length - 1, next))]?.focus();
      event.preventDefault();
    };
    addEventListener('keydown', walk);
    return () => removeEventListener('keydown', walk);
  }, [list]);
}
