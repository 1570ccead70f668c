/** What the server says about jobs, asked again while somebody looks. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, value, type Schemas } from '@/api/client';
import { PAGE } from '@/api/queries';

export type Job = Schemas['Job'];
export type JobSummary = Schemas['JobSummary'];
export type State = JobSummary['state'];

export const STATES = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const satisfies State[];
/** The most the server lists at once. */
export const MOST = 200;
const OFTEN = 2000;

export const hasEnded = ({ state }: Pick<JobSummary, 'state'>): boolean => state !== 'queued' && state !== 'running';

export const jobsQuery = (state: State | undefined) =>
  infiniteQueryOptions({
    queryKey: ['jobs', 'list', state ?? 'all'],
    queryFn: ({ pageParam, signal }) =>
      value(
        api.GET('/api/jobs', {
          params: { query: { limit: PAGE, ...(state ? { state } : {}), ...(pageParam ? { cursor: pageParam } : {}) } },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    refetchInterval: OFTEN,
  });

/** The latest jobs of every state, from which the queue's last hour is drawn. */
export const latestQuery = queryOptions({
  queryKey: ['jobs', 'latest'],
  queryFn: ({ signal }) => value(api.GET('/api/jobs', { params: { query: { limit: MOST } }, signal })),
  refetchInterval: 5 * OFTEN,
});

export const jobQuery = (id: string) =>
  queryOptions({
    queryKey: ['jobs', 'one', id],
    queryFn: () => value(api.GET('/api/jobs/{id}', { params: { path: { id } } })),
    refetchInterval: ({ state: { data } }) => (data && hasEnded(data) ? false : OFTEN / 2),
  });
