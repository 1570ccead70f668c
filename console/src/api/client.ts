/** The server, typed by its own route table. Every refusal becomes one kind of error. */
import { createClient, type Answer, type Schemas } from '@atrium/client';
import { noteCall } from './calls';
import { Refusal, refusalOf } from './refusal';
import { signedIn } from './signed-in';

export type { Schemas };

type Heard = 'ended' | 'suspended' | 'reached' | 'unreachable';
const listeners = new Set<(heard: Heard) => void>();
const tell = (heard: Heard) => listeners.forEach((listener) => listener(heard));

/** Hear what any answer says about the session, the company or the network. */
export function hearServer(listener: (heard: Heard) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

async function reach(request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    tell('unreachable');
    throw new Refusal(0, 'unreachable', '');
  }
}

async function send(request: Request): Promise<Response> {
  // Whoever signs in here gets the session as a cookie, and nothing in the reply.
  request.headers.set('atrium-session', 'cookie');
  // Under which sign-in the request left: an answer that comes after the next one says nothing about that.
  const mark = signedIn.mark();
  void noteCall(request.clone());
  const response = await reach(request);
  tell('reached');
  if (response.ok) return response;
  const refusal = await refusalOf(response);
  const known = response.status === 401 && refusal.code === 'identity.unauthenticated' && !request.headers.has('authorization');
  if (known && mark && mark === signedIn.mark()) tell('ended');
  if (response.status === 402) tell('suspended');
  throw refusal;
}

export const api = createClient({ address: location.origin, send });

/** The value of a call; refusals have been thrown by then. */
export async function value<T>(call: Promise<Answer<T>>): Promise<T> {
  return (await call).data;
}

/** The value and its ETag, for what is edited by several people. */
export async function versioned<T>(call: Promise<Answer<T>>): Promise<{ value: T; etag: string }> {
  const { data, response } = await call;
  return { value: data, etag: response.headers.get('etag') ?? '*' };
}
