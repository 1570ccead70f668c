/** Keys that are pressed between asking for a dialog and its input having the focus; they belong to what is opening. */
let held = '';

function hold(event: KeyboardEvent): void {
  if (event.key.length !== 1 || event.ctrlKey || event.metaKey || event.altKey) return;
  held += event.key;
  event.preventDefault();
  event.stopPropagation();
}

export function holdKeys(): void {
  held = '';
  window.addEventListener('keydown', hold, true);
}

/** What was pressed meanwhile; from now on keys go where the focus is. */
export function takeHeldKeys(): string {
  window.removeEventListener('keydown', hold, true);
  const taken = held;
  held = '';
  return taken;
}
