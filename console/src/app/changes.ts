/**
 * What others change shows without a reload. One stream for all tabs of a browser, because HTTP/1.1 has six connections: the tab
 * that holds the lock reads it and tells the others; when it closes, the next one goes on after the last event that was heard.
 * What a tab read before it began to hear may be old by then, so it is read again.
 */
import type { QueryClient } from '@tanstack/react-query';
import { readEvents, type ServerEvent } from '@/api/stream';

interface Change {
  kind: 'note' | 'document' | 'object';
  id: string;
  action: string;
  version: number;
}

type Key = readonly string[];

/** Changes that come together are read together. */
export const GATHER_MILLISECONDS = 150;

const LISTS: Record<Change['kind'], Key[]> = {
  note: [['notes']],
  document: [['documents'], ['files']],
  object: [['files'], ['documents']],
};
const THINGS: Record<Change['kind'], string[]> = { note: ['note'], document: ['document', 'file'], object: ['file', 'document'] };
/** Everything that the stream tells of. */
const FAMILIES = new Set([...Object.values(LISTS).flat(2), ...Object.values(THINGS).flat(), 'trash']);
/** A tab asks the one that reads the stream how far it is; it answers with an event of this type. */
const ASK_PLACE = 'where';
const PLACE = 'place';

/** Marks what a person's changes make old, until it is stopped; nothing where the browser cannot share one stream among its tabs. */
export function hearChanges(queries: QueryClient, user: string, read: typeof readEvents = readEvents): () => void {
  if (!('locks' in navigator)) return () => undefined;
  const name = `atrium.changes.${user}`;
  const stopping = new AbortController();
  const channel = new BroadcastChannel(name);
  const gathered = gathering(queries);
  let last = '';
  let leads = false;
  const hear = (event: ServerEvent) => {
    if (event.type === PLACE && last) return;
    if (!last && event.id) gathered.begin();
    last = event.id || last;
    gathered.take(event);
  };
  channel.onmessage = ({ data }) => {
    if (data !== ASK_PLACE) hear(data as ServerEvent);
    else if (leads && last) channel.postMessage({ id: last, type: PLACE, data: '' } satisfies ServerEvent);
  };
  channel.postMessage(ASK_PLACE);
  const lead = async () => {
    leads = true;
    for await (const event of read('/api/changes', { signal: stopping.signal, ...(last ? { after: last } : {}) })) {
      hear(event);
      channel.postMessage(event);
    }
  };
  // A refusal ends it: who is signed out is told by every other request.
  navigator.locks.request(name, { signal: stopping.signal }, lead).catch(() => undefined);
  return () => {
    stopping.abort();
    gathered.stop();
    channel.close();
  };
}

/** Collects what has become old for a moment. */
function gathering(queries: QueryClient): { begin: () => void; take: (event: ServerEvent) => void; stop: () => void } {
  const old = new Map<string, Key>();
  let everything = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tell = () => {
    timer = undefined;
    if (everything) void queries.invalidateQueries();
    else for (const queryKey of old.values()) void queries.invalidateQueries({ queryKey });
    everything = false;
    old.clear();
  };
  return {
    begin: () => void queries.invalidateQueries({ predicate: ({ queryKey }) => FAMILIES.has(String(queryKey[0])) }),
    take: ({ type, data }) => {
      if (type === 'change') for (const key of keysOf(queries, JSON.parse(data) as Change)) old.set(key.join(' '), key);
      else if (type === 'reset' || type === 'bye') everything = true;
      if (everything || old.size > 0) timer ??= setTimeout(tell, GATHER_MILLISECONDS);
    },
    stop: () => clearTimeout(timer),
  };
}

/** What a change makes old: the lists of its kind and the thing itself, unless this tab has that version, having saved it. */
function keysOf(queries: QueryClient, change: Change): Key[] {
  const lists = LISTS[change.kind] ?? [];
  if (change.action === 'changed' && hasAlready(queries, change)) return lists;
  const elsewhere = change.action === 'deleted' || change.action === 'restored' ? [['trash']] : [];
  return [...lists, ...elsewhere, ...(THINGS[change.kind] ?? []).map((thing) => [thing, change.id])];
}

function hasAlready(queries: QueryClient, { kind, id, version }: Change): boolean {
  if (kind !== 'note') return false;
  const kept = queries.getQueryData<{ version: number }>(['note', id]);
  return kept !== undefined && kept.version >= version;
}
