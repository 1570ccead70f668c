/** Plugins and the calls of their pages. */
import { queryOptions } from '@tanstack/react-query';
import { api, value, type Schemas } from './client';

export type PluginCard = Schemas['PluginCard'];

export const pluginsQuery = queryOptions({
  queryKey: ['plugins'],
  queryFn: () => value(api.GET('/api/plugins')),
  // They change when the server restarts.
  staleTime: 300_000,
});

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export interface CallInit {
  method?: string;
  /** Becomes JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** A call of a plugin's page: to this server's interface, as the signed-in person. */
export async function callServer(path: string, { method = 'GET', ...init }: CallInit = {}): Promise<unknown> {
  const name = METHODS.find((one) => one === method.toUpperCase());
  if (!name) throw new TypeError(`api() takes the methods ${METHODS.join(', ').toLowerCase()}`);
  if (!path.startsWith('/api/')) throw new TypeError('api() takes paths of this server that begin with /api/');
  // The page's address is no part of our document; the same client sends it, so an ended session is noticed as always.
  return value(api.request(name, path, init));
}
