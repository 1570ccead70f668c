/** A spec that is being written and not published yet; it outlives the tab. */
interface Draft {
  text: string;
  /** The version it was written on top of. */
  over: number | null;
}

const keyOf = (user: string, slug: string): string => `atrium.draft.${user}.workflow.${slug}`;

export function readDraft(user: string, slug: string): Draft | null {
  try {
    return JSON.parse(localStorage.getItem(keyOf(user, slug)) ?? 'null') as Draft | null;
  } catch {
    return null;
  }
}

export function keepDraft(user: string, slug: string, draft: Draft): void {
  try {
    localStorage.setItem(keyOf(user, slug), JSON.stringify(draft));
  } catch {
    // A full store: the text is still on screen.
  }
}

export const dropDraft = (user: string, slug: string): void => localStorage.removeItem(keyOf(user, slug));
