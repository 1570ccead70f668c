import { QueryClient } from '@tanstack/react-query';
import { Refusal } from '@/api/refusal';

/** A refusal is an answer and is not asked for again; only silence is. */
export function makeQueries(): QueryClient {
  const retry = (count: number, error: Error) => count < 2 && error instanceof Refusal && (error.unreachable || error.status >= 502);
  return new QueryClient({ defaultOptions: { queries: { staleTime: 10_000, retry, networkMode: 'always' }, mutations: { networkMode: 'always' } } });
}
