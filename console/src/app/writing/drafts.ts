/** Text that has not reached the server yet; it outlives the tab, the browser and a dead network. */
export interface Draft {
  title: string;
  body: string;
  /** The version it was written on top of, and that version's text: what a merge needs. */
  version: number;
  base: { title: string; body: string };
}

const keyOf = (user: string, note: string): string => `atrium.draft.${user}.${note}`;

export function readDraft(user: string, note: string): Draft | null {
  try {
    return JSON.parse(localStorage.getItem(keyOf(user, note)) ?? 'null') as Draft | null;
  } catch {
    return null;
  }
}

export function keepDraft(user: string, note: string, draft: Draft): void {
  try {
    localStorage.setItem(keyOf(user, note), JSON.stringify(draft));
  } catch {
    // A full store: the text is still on screen and on its way to the server.
  }
}

export const dropDraft = (user: string, note: string): void => localStorage.removeItem(keyOf(user, note));
