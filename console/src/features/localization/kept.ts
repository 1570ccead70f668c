/** Texts that the server does not have yet, in this browser: half-written ones, and those that were sent while no network was there. */
import { dropDraft, keepDraft, readDraft } from '@/app/writing/drafts';
import type { Message } from './queries';

export interface Unsent {
  id: string;
  locale: string;
  key: string;
  text: string;
  revision: number;
}

const keyOf = (user: string): string => `atrium.unsent.${user}`;

export function readUnsent(user: string): Unsent[] {
  try {
    return JSON.parse(localStorage.getItem(keyOf(user)) ?? '[]') as Unsent[];
  } catch {
    return [];
  }
}

function write(user: string, all: Unsent[]): void {
  try {
    if (all.length) localStorage.setItem(keyOf(user), JSON.stringify(all));
    else localStorage.removeItem(keyOf(user));
  } catch {
    // A full store: the text is still a draft, or on screen.
  }
}

export const addUnsent = (user: string, one: Unsent): void => write(user, [...readUnsent(user).filter(({ id }) => id !== one.id), one]);
export const dropUnsent = (user: string, id: string): void => write(user, readUnsent(user).filter((one) => one.id !== id));

/** What was written on a message and not sent; its version tells on top of what. */
export const readText = (user: string, { id }: Message): string | null => readDraft(user, id)?.body ?? null;

export function keepText(user: string, { id, key, revision }: Message, text: string, sent: string): void {
  if (text === sent) dropDraft(user, id);
  else keepDraft(user, id, { title: key, body: text, version: revision, base: { title: key, body: sent } });
}

export const dropText = (user: string, id: string): void => dropDraft(user, id);
