/** The words on screen: loaded by namespace as screens need them, and kept whole beside the console's files for visits offline. */
import { ENTRY, FRAME } from './namespaces';

export interface Catalog {
  locale: string;
  messages: Record<string, string>;
}

const [CACHE, KEY] = ['atrium-words', '/words'];
let current: Catalog = { locale: '', messages: {} };
/** What boot.js asked for, from the start. */
const loaded = new Set(window.atrium.identity ? FRAME : ENTRY);
/** Every namespace there is has arrived. */
let whole = false;

const addressOf = (locale: string, namespaces?: Iterable<string>) =>
  `/api/i18n/catalog?locale=${encodeURIComponent(locale)}${namespaces ? `&namespaces=${[...namespaces].join()}` : ''}`;

async function read(asked: Promise<Response>): Promise<Catalog | null> {
  const answer = await asked.catch(() => null);
  return answer?.ok ? ((await answer.json()) as Catalog) : null;
}

async function readKept(): Promise<Catalog> {
  const answer = 'caches' in window ? await caches.match(KEY, { cacheName: CACHE }) : undefined;
  if (!answer) throw new Error('neither the server nor this browser has the words');
  whole = true;
  return (await answer.json()) as Catalog;
}

/** The catalog asked for before the program had loaded (see boot.js), else the one of the last visit. */
export async function firstCatalog(): Promise<Catalog> {
  current = (await read(window.atrium.catalog)) ?? (await readKept());
  return current;
}

/** The words of these namespaces are there when this ends; nothing is asked for twice. */
export async function loadNamespaces(wanted: string[]): Promise<void> {
  const missing = whole ? [] : wanted.filter((name) => !loaded.has(name));
  if (missing.length === 0) return;
  const asked = current;
  const found = (await read(fetch(addressOf(asked.locale, missing)))) ?? (await readKept());
  // Another language was chosen meanwhile: these words are of the former one.
  if (current !== asked) return loadNamespaces(wanted);
  Object.assign(current.messages, found.messages);
  missing.forEach((name) => loaded.add(name));
}

/** Every word in another language, or null when the server does not answer. */
export async function loadLocale(locale: string): Promise<Catalog | null> {
  const found = await read(fetch(addressOf(locale, loaded)));
  if (!found) return null;
  current = found;
  whole = false;
  void keepWhole();
  return found;
}

/** Keeps the whole catalog for a page opened offline. Browsers have this storage, as service workers, on HTTPS and on localhost only. */
export async function keepWhole(): Promise<void> {
  const asked = current;
  const answer = await fetch(addressOf(asked.locale)).catch(() => null);
  if (!answer?.ok) return;
  if ('caches' in window) await (await caches.open(CACHE)).put(KEY, answer.clone());
  const { messages } = (await answer.json()) as Catalog;
  if (current !== asked) return;
  Object.assign(current.messages, messages);
  whole = true;
}
