/** Server-sent events: read as they come, taken up after the last one that was heard when the line breaks. */
import { refusalOf } from './refusal';

export interface ServerEvent {
  /** Where to go on from; empty when the server numbers nothing. */
  id: string;
  type: string;
  data: string;
}

interface Options {
  signal?: AbortSignal;
  /** The last event that was heard, when an earlier stream ended. */
  after?: string;
  method?: 'GET' | 'POST';
  body?: unknown;
  headers?: Record<string, string>;
  /** Which refusals are worth another attempt; a restart and a busy server unless said otherwise. */
  passing?: (status: number) => boolean;
  /** Where the rest is told once an event was heard, when that is elsewhere: the request itself must not be repeated then. */
  rest?: string;
  /** Milliseconds before the first attempt after a break, unless the server says how long. */
  pause?: number;
}

const LONGEST_PAUSE = 30_000;

/** Yields every event once, over as many connections as needed. Ends when the server says `204` or the caller stops; throws a refusal. */
export async function* readEvents(address: string, options: Options = {}): AsyncGenerator<ServerEvent> {
  const { signal } = options;
  const memory = { last: options.after ?? '', pause: options.pause ?? 1000 };
  for (let failures = 0; !signal?.aborted; failures++) {
    const answer = await connect(address, options, memory.last);
    if (answer?.status === 204) return;
    if (answer && !answer.ok && !(options.passing ?? isPassing)(answer.status)) throw await refusalOf(answer);
    if (answer?.ok && answer.body) {
      for await (const event of eventsOf(answer.body, memory)) {
        failures = 0;
        yield event;
      }
    }
    await rest(Math.min(LONGEST_PAUSE, memory.pause * 2 ** Math.min(failures, 5)), signal);
  }
}

/** A restart or a busy server: worth another attempt. */
const isPassing = (status: number): boolean => status === 429 || status >= 500;

function connect(address: string, options: Options, last: string): Promise<Response | null> {
  const { signal, method = 'GET', headers: more } = options;
  const elsewhere = options.rest !== undefined && last !== '';
  const body = elsewhere ? {} : options.body;
  const headers: Record<string, string> = { ...more, accept: 'text/event-stream' };
  if (last) headers['last-event-id'] = last;
  if (body !== undefined) headers['content-type'] = 'application/json';
  const request = { method, headers, ...(signal ? { signal } : {}), ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  return fetch(elsewhere ? options.rest! : address, request).catch(() => null);
}

/** The events of one connection; a broken line ends them, and an event that broke off with it is not one. */
async function* eventsOf(body: ReadableStream<Uint8Array>, memory: { last: string; pause: number }): AsyncGenerator<ServerEvent> {
  let event = { id: memory.last, type: '', data: [] as string[] };
  try {
    for await (const line of linesOf(body)) {
      if (line === '') {
        memory.last = event.id;
        if (event.data.length > 0) yield { id: event.id, type: event.type || 'message', data: event.data.join('\n') };
        event = { id: memory.last, type: '', data: [] };
        continue;
      }
      const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(line)!;
      if (field === 'data') event.data.push(value!);
      else if (field === 'event') event.type = value!;
      else if (field === 'id' && !value!.includes('\0')) event.id = value!;
      else if (field === 'retry' && /^\d+$/.test(value!)) memory.pause = Number(value);
    }
  } catch {
    // The next connection goes on after the last event that was whole.
  }
}

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = '';
  try {
    for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
      // A carriage return at the very end may be half of a line's end.
      const parts = (rest + value).split(/\r\n|\n|\r(?!$)/);
      rest = parts.pop()!;
      yield* parts;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function rest(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}
