/** Questions about files and documents, asked by more than one feature. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, value, type Schemas } from './client';
import { PAGE } from './queries';

export type StoredObject = Schemas['StoredObject'];
export type ObjectDetail = Schemas['ObjectDetail'];
export type Version = Schemas['Version'];
export type Visibility = StoredObject['visibility'];
export const DELIMITER = '/';

export interface Place {
  /** The folder, with its last `/`, or nothing at the top. */
  folder: string;
  /** What the names in it contain. */
  q: string;
  order?: Order | undefined;
  dir?: 'asc' | 'desc' | undefined;
}

export type Order = 'name' | 'updated' | 'size';

/** What is directly in a folder: its folders and its files. */
export const folderQuery = ({ folder, q, order = 'name', dir }: Place) =>
  infiniteQueryOptions({
    queryKey: ['files', 'folder', folder, q, order, dir],
    queryFn: ({ pageParam, signal }) =>
      value(
        api.GET('/api/repo', {
          params: {
            query: {
              prefix: folder,
              delimiter: DELIMITER,
              limit: PAGE,
              order,
              ...(dir && { dir }),
              ...(q && { q }),
              ...(pageParam ? { cursor: pageParam } : {}),
            },
          },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });

/** What others let the caller into. */
export const sharedQuery = infiniteQueryOptions({
  queryKey: ['files', 'shared'],
  queryFn: ({ pageParam, signal }) =>
    value(api.GET('/api/repo', { params: { query: { shared: true, limit: PAGE, ...(pageParam ? { cursor: pageParam } : {}) } }, signal })),
  initialPageParam: '',
  getNextPageParam: (page) => page.next_cursor ?? undefined,
});

export const objectQuery = (id: string) =>
  queryOptions({ queryKey: ['file', id], queryFn: () => value(api.GET('/api/repo-obj/{id}', { params: { path: { id } } })) });

/** A team's object at a key, if the caller can see one. Other teams may share one of the same key. */
export async function findAt(key: string, team: string): Promise<StoredObject | null> {
  const { items } = await value(api.GET('/api/repo', { params: { query: { prefix: key, limit: PAGE } } }));
  return items.find((one) => one.key === key && one.team_id === team) ?? null;
}

/** A key in an address: every part encoded, the slashes kept. */
export const encodedKey = (key: string): string => key.split(DELIMITER).map(encodeURIComponent).join(DELIMITER);
export const pathOf = (key: string): string => `/api/repo/${encodedKey(key)}`;
export const contentPath = (id: string, version?: number): string =>
  `/api/repo-obj/${id}/content${version === undefined ? '' : `?version=${version}`}`;
export const etagOf = (object: Pick<StoredObject, 'revision'>): string => `"r${object.revision}"`;
