/** How documents reach the server. */
import { infiniteQueryOptions, queryOptions, type QueryClient } from '@tanstack/react-query';
import { api, value, type Schemas } from '@/api/client';
import { PAGE } from '@/api/queries';
import { etagOf } from '@/api/repository';
import type { Server } from '@/app/writing/autosave';

export type Document = Schemas['DocumentReply'];
export type DocumentCard = Schemas['DocumentCard'];

export const documentsQuery = infiniteQueryOptions({
  queryKey: ['documents'],
  queryFn: ({ pageParam, signal }) =>
    value(api.GET('/api/documents', { params: { query: { limit: PAGE, ...(pageParam ? { cursor: pageParam } : {}) } }, signal })),
  initialPageParam: '',
  getNextPageParam: (page) => page.next_cursor ?? undefined,
});

const readDocument = (id: string): Promise<Document> => value(api.GET('/api/documents/{id}', { params: { path: { id } } }));
export const documentQuery = (id: string) => queryOptions({ queryKey: ['document', id], queryFn: () => readDocument(id) });

/** Everything on other screens that shows the document. */
export function tellOthers(queries: QueryClient, id: string): void {
  for (const queryKey of [['documents'], ['files'], ['file', id]]) void queries.invalidateQueries({ queryKey });
}

/** Saves on top of a state and tells the lists. */
export function serverOf(queries: QueryClient): Server<Document> {
  return {
    read: readDocument,
    save: async (kept, change) => {
      const saved = await value(
        api.PUT('/api/documents/{id}', { params: { path: { id: kept.id }, header: { 'If-Match': etagOf(kept) } }, body: change }),
      );
      queries.setQueryData(documentQuery(kept.id).queryKey, saved);
      tellOthers(queries, kept.id);
      return saved;
    },
  };
}
