/** Questions more than one feature asks. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, value, type Schemas } from './client';

export type Identity = Schemas['Identity'];
export type Member = Schemas['Member'];
export type Note = Schemas['Note'];
export type NoteReply = Schemas['NoteReply'];
export const PAGE = 50;

/** The identity asked for before the program had loaded, once. */
async function readIdentity(): Promise<Identity> {
  const early = window.atrium.identity;
  window.atrium.identity = null;
  const answer = early ? await early.catch(() => null) : null;
  return answer?.ok ? (answer.json() as Promise<Identity>) : value(api.GET('/api/whoami'));
}

export const identityQuery = queryOptions({ queryKey: ['identity'], queryFn: readIdentity, staleTime: 60_000 });

export const membersQuery = queryOptions({
  queryKey: ['members'],
  queryFn: async () => {
    const found: Member[] = [];
    let cursor: string | null | undefined;
    do {
      const page: Schemas['Page_Member_'] = await value(
        api.GET('/api/members', { params: { query: { limit: 200, ...(cursor ? { cursor } : {}) } } }),
      );
      found.push(...page.items);
      cursor = page.next_cursor;
    } while (cursor && found.length < 2000);
    return found;
  },
  staleTime: 60_000,
});

export const notesQuery = (q: string) =>
  infiniteQueryOptions({
    queryKey: ['notes', { q }],
    queryFn: ({ pageParam, signal }) =>
      value(
        api.GET('/api/notes', {
          params: { query: { limit: PAGE, ...(q ? { q } : {}), ...(pageParam ? { cursor: pageParam } : {}) } },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
