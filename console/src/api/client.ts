/** The server, typed by its own OpenAPI document. Every refusal becomes one kind of error. */
import createClient, { type Middleware } from 'openapi-fetch';
import { noteCall } from './calls';
import type { components, paths } from './generated';
import { Refusal, refusalOf } from './refusal';
import { signedIn } from './signed-in';

export type Schemas = components['schemas'];

type Heard = 'ended' | 'suspended' | 'reached' | 'unreachable';
const listeners = new Set<(heard: Heard) => void>();
const tell = (heard: Heard) => listeners.forEach((listener) => listener(heard));

/** Hear what any answer says about the session, the company or the network. */
export function hearServer(listener: (heard: Heard) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Under which sign-in a request left: an answer that comes after the next one says nothing about that. */
const marks = new WeakMap<Request, string | null>();

const session: Middleware = {
  onRequest({ request }) {
    // Whoever signs in here gets the session as a cookie, and nothing in the reply.
    request.headers.set('atrium-session', 'cookie');
    marks.set(request, signedIn.mark());
    void noteCall(request);
    return request;
  },
  async onResponse({ request, response }) {
    tell('reached');
    if (response.ok) return;
    const refusal = await refusalOf(response);
    const mark = marks.get(request);
    if (
      response.status === 401 &&
      refusal.code === 'identity.unauthenticated' &&
      mark &&
      mark === signedIn.mark() &&
      !request.headers.has('authorization')
    ) {
      tell('ended');
    }
    if (response.status === 402) tell('suspended');
    throw refusal;
  },
  onError({ error }) {
    if (error instanceof DOMException && error.name === 'AbortError') return;
    tell('unreachable');
    return new Refusal(0, 'unreachable', '');
  },
};

export const api = createClient<paths>({ baseUrl: location.origin });
api.use(session);

/** The value of a call; refusals have been thrown by then. */
export async function value<T>(call: Promise<{ data?: T }>): Promise<T> {
  return (await call).data as T;
}

/** The value and its ETag, for what is edited by several people. */
export async function versioned<T>(call: Promise<{ data?: T; response: Response }>): Promise<{ value: T; etag: string }> {
  const { data, response } = await call;
  return { value: data as T, etag: response.headers.get('etag') ?? '*' };
}
