/** What the server is asked about the knowledge graph. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, value, type Schemas } from '@/api/client';
import { PAGE } from '@/api/queries';

export type Entity = Schemas['Entity'];
export type EntityDetail = Schemas['EntityDetail'];
export type EntityType = Entity['type'];
export type Relation = Schemas['Relation'];
export type Merged = Schemas['MergeResult'];
export type Mention = Schemas['ShownMention'];
export type Unread = Schemas['Unread'];
type Run = Schemas['Run'];
type Job = Schemas['Job'];

export const TYPES: EntityType[] = ['person', 'organisation', 'place', 'product', 'project', 'event', 'document', 'concept'];
export const LONGEST = 200;
const OFTEN = 1000;

/** Which entities, as it stands in the address. */
export interface Wanted {
  q?: string;
  type?: EntityType;
}

const from = (cursor: string) => (cursor ? { cursor } : {});

export const entitiesQuery = (wanted: Wanted, limit = PAGE) =>
  infiniteQueryOptions({
    queryKey: ['knowledge', 'entities', wanted, limit],
    queryFn: ({ pageParam, signal }) =>
      value(api.GET('/api/kg/entities', { params: { query: { ...wanted, limit, ...from(pageParam) } }, signal })),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });

/** An entity; every further page brings more of its mentions. */
export const entityQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['knowledge', 'entity', id],
    queryFn: ({ pageParam, signal }) =>
      value(api.GET('/api/kg/entities/{id}', { params: { path: { id }, query: { limit: PAGE, ...from(pageParam) } }, signal })),
    initialPageParam: '',
    getNextPageParam: (page) => page.mentions.next_cursor ?? undefined,
  });

export const unreadQuery = infiniteQueryOptions({
  queryKey: ['knowledge', 'unread'],
  queryFn: async ({ pageParam, signal }) => {
    const query = { dry_run: true, limit: PAGE, ...from(pageParam) };
    return (await value(api.POST('/api/kg/extract', { params: { query }, signal }))) as Schemas['Page_Unread_'];
  },
  initialPageParam: '',
  getNextPageParam: (page) => page.next_cursor ?? undefined,
});

export const startExtraction = async () => (await value(api.POST('/api/kg/extract', {}))) as Run;

export const hasEnded = ({ state }: { state: string }): boolean => state !== 'queued' && state !== 'running';

export const runQuery = (id: string) =>
  queryOptions({
    queryKey: ['runs', 'one', id],
    queryFn: () => value(api.GET('/api/runs/{id}', { params: { path: { id } } })),
    refetchInterval: ({ state: { data } }) => (data && hasEnded(data) ? false : OFTEN),
  });

export const jobQuery = (id: string) =>
  queryOptions({
    queryKey: ['jobs', 'one', id],
    queryFn: () => value(api.GET('/api/jobs/{id}', { params: { path: { id } } })),
    refetchInterval: ({ state: { data } }) => (data && hasEnded(data) ? false : OFTEN / 4),
  });

/** Every kind takes something else, which the document can only call an object. */
const enqueue = (kind: string, input: object): Promise<Job> => value(api.POST('/api/jobs', { body: { kind, input: input as never } }));

export const merge = (keep: string, drop: string) => enqueue('knowledge.merge', { keep, drop });
export const unmerge = (id: string) => enqueue('knowledge.unmerge', { merge: id });

/** The job once it has ended; asks again until then. */
export async function whenEnded(job: Job): Promise<Job> {
  let now = job;
  while (!hasEnded(now)) {
    await new Promise((resolve) => setTimeout(resolve, OFTEN / 4));
    now = await value(api.GET('/api/jobs/{id}', { params: { path: { id: job.id } } }));
  }
  return now;
}
