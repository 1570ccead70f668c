/** What a search asks for, and what it finds. */
import { infiniteQueryOptions } from '@tanstack/react-query';
import { api, value } from '@/api/client';
import type { Hit } from '@/app/things';

export type Found = Hit;
export const KINDS = ['note', 'document', 'object', 'entity'] as const;
export type Kind = (typeof KINDS)[number];

/** A search as it stands in the address. */
export interface Asked {
  q?: string;
  kind?: Kind;
  prefix?: string;
  scope?: 'org';
}

export const searchQuery = ({ q = '', ...narrower }: Asked, limit = 20) =>
  infiniteQueryOptions({
    queryKey: ['search', q, narrower, limit],
    queryFn: ({ pageParam, signal }) =>
      value(api.GET('/api/search', { params: { query: { q, limit, ...narrower, ...(pageParam ? { cursor: pageParam } : {}) } }, signal })),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    enabled: q !== '',
    // Things change while one searches; a search that was typed again asks again.
    staleTime: 5_000,
  });
