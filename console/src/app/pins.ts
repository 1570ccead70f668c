/** Up to eight places and things that a person opens often. Kept in this browser, for each person and company apart. */
import { useRouterState } from '@tanstack/react-router';
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import type { Identity } from '@/api/queries';
import type { MessageKey } from '@/i18n/messages';
import { useIdentity } from './session';

export const MOST_PINS = 8;

export interface Pin {
  path: string;
  /** The folder, when the path is that of the files. */
  at: string;
  title: string;
  /** The title as a message, for a place of the console. */
  label?: MessageKey;
  permission?: string | undefined;
}

type Address = Pick<Pin, 'path' | 'at'>;

const listeners = new Set<() => void>();
const tell = (): void => listeners.forEach((one) => one());
addEventListener('storage', tell);

function listen(one: () => void): () => void {
  listeners.add(one);
  return () => listeners.delete(one);
}

const keyOf = ({ org, user }: Identity): string => `atrium.pins.${org.id}.${user.id}`;
export const isSame = (one: Address, other: Address): boolean => one.path === other.path && one.at === other.at;

/** The last text read and its pins: as long as the text is the same, so is the list. */
let last: { text: string; pins: Pin[] } = { text: '[]', pins: [] };

function read(key: string): Pin[] {
  const text = localStorage.getItem(key) ?? '[]';
  if (text !== last.text) last = { text, pins: parse(text) };
  return last.pins;
}

function parse(text: string): Pin[] {
  try {
    const found: unknown = JSON.parse(text);
    return Array.isArray(found) ? (found as Pin[]).slice(0, MOST_PINS) : [];
  } catch {
    return [];
  }
}

function write(key: string, pins: Pin[]): void {
  localStorage.setItem(key, JSON.stringify(pins));
  tell();
}

export interface Pins {
  pins: Pin[];
  /** False when there are eight already. */
  add: (pin: Pin) => boolean;
  remove: (address: Address) => void;
  /** Removes the pin of a note, a document or a file; what comes back pins it again. */
  removeThing: (id: string) => () => void;
  rename: (address: Address, title: string) => void;
}

export function usePins(): Pins {
  const key = keyOf(useIdentity());
  const pins = useSyncExternalStore(listen, () => read(key));
  const changes = useMemo(() => changesOf(key), [key]);
  return { pins, ...changes };
}

function changesOf(key: string): Omit<Pins, 'pins'> {
  const add = (pin: Pin): boolean => {
    const others = read(key).filter((one) => !isSame(one, pin));
    if (others.length >= MOST_PINS) return false;
    write(key, [...others, pin]);
    return true;
  };
  const removeAll = (isGone: (pin: Pin) => boolean): Pin[] => {
    const gone = read(key).filter(isGone);
    if (gone.length > 0) write(key, read(key).filter((pin) => !isGone(pin)));
    return gone;
  };
  return {
    add,
    remove: (address) => void removeAll((pin) => isSame(pin, address)),
    removeThing: (id) => {
      const gone = removeAll((pin) => pin.path.endsWith(`/${id}`));
      return () => gone.forEach(add);
    },
    rename: (address, title) => {
      const stale = read(key).find((pin) => isSame(pin, address) && pin.title !== title);
      if (stale) write(key, read(key).map((pin) => (pin === stale ? { ...pin, title } : pin)));
    },
  };
}

/** Where the screen is. */
export function useAddress(): Address {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const at = useRouterState({ select: ({ location }) => String((location.search as { at?: unknown }).at ?? '') });
  return { path, at: path === '/files' ? at : '' };
}

/** Removes the pin of this address when its thing is found to be gone; an empty folder can be pinned again after that. */
export function useUnpinGone(gone: boolean): void {
  const { path, at } = useAddress();
  const { remove } = usePins();
  useEffect(() => {
    if (gone) remove({ path, at });
  }, [gone, path, at, remove]);
}
