/** Whether a conversation is led with tools; remembered as long as the page is there. */
const chosen = new Map<string, boolean>();
export const NEW = 'new';

export const usesTools = (conversation: string): boolean => chosen.get(conversation) ?? false;
export const chooseTools = (conversation: string, on: boolean): void => void chosen.set(conversation, on);

/** A new conversation has an address now; the next one begins afresh. */
export function carryTools(conversation: string): void {
  chosen.set(conversation, usesTools(NEW));
  chosen.delete(NEW);
}
