/** A text that is JSON as a whole; it is shown as what it says, not as how it is written. */
export function jsonIn(text: string): { value: unknown } | null {
  if (!/^\s*[[{]/.test(text)) return null;
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return null;
  }
}
