/** What the server is asked about workflows, runs and triggers. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, value, versioned, type Schemas } from '@/api/client';
import { PAGE } from '@/api/queries';
import type { Definition, Rehearsal, Run, RunState, Trigger, TriggerDetail, TriggerDraft, WorkflowSummary } from './shapes';

const OFTEN = 2000;
export const RUN_STATES = ['running', 'succeeded', 'failed', 'cancelled'] as const satisfies RunState[];
export const hasEnded = ({ state }: { state: RunState }): boolean => state !== 'running';

const paged = (cursor: string) => ({ limit: PAGE, ...(cursor ? { cursor } : {}) });

/** The document of the interface calls any JSON object empty, and leaves out that defaults are always told. */
const whole = <Told>(answer: Promise<unknown>): Promise<Told> => answer as Promise<Told>;

interface Workflows {
  items: WorkflowSummary[];
  next_cursor: string | null;
}

const readWorkflows = (cursor: string, limit: number, signal: AbortSignal) =>
  whole<Workflows>(value(api.GET('/api/workflows', { params: { query: { ...paged(cursor), limit } }, signal })));

export const workflowsQuery = infiniteQueryOptions({
  queryKey: ['workflows', 'list'],
  queryFn: ({ pageParam, signal }) => readWorkflows(pageParam, PAGE, signal),
  initialPageParam: '',
  getNextPageParam: (page) => page.next_cursor ?? undefined,
});

/** All of them at once, for a list to choose from. */
export const workflowNamesQuery = queryOptions({
  queryKey: ['workflows', 'names'],
  queryFn: async ({ signal }) => {
    const found: WorkflowSummary[] = [];
    let cursor: string | null = '';
    while (cursor !== null && found.length < 2000) {
      const page: Workflows = await readWorkflows(cursor, 200, signal);
      found.push(...page.items);
      cursor = page.next_cursor;
    }
    return found;
  },
  staleTime: 30_000,
});

export const workflowQuery = (slug: string, version?: number) =>
  queryOptions({
    queryKey: ['workflows', 'one', slug, version ?? 'newest'],
    queryFn: () =>
      whole<Definition>(
        value(api.GET('/api/workflows/{slug}', { params: { path: { slug }, query: version === undefined ? {} : { version } } })),
      ),
  });

/** Publishes on top of the version that was edited; a slug that is new has none. */
export const publish = (spec: unknown, over: number | null) =>
  whole<Schemas['Definition']>(
    value(api.POST('/api/workflows', { params: { header: over === null ? {} : { 'If-Match': `"${over}"` } }, body: spec as never })),
  );

export const validate = (spec: unknown, signal: AbortSignal) =>
  whole<Schemas['CheckedSpec']>(value(api.POST('/api/workflows', { params: { query: { dry_run: true } }, body: spec as never, signal })));

export interface Start {
  input?: Record<string, unknown>;
  version?: number;
  resume?: Schemas['Resume'];
  /** The digest of the version that was looked at. */
  accept?: string;
}

export const startRun = (slug: string, body: Start) =>
  value(api.POST('/api/workflows/{slug}/run', { params: { path: { slug } }, body: body as Schemas['RunDraft'] }));

export interface RunFilter {
  state?: RunState;
  workflow?: string;
  trigger?: string;
  mine?: boolean;
}

export const runsQuery = (filter: RunFilter) =>
  infiniteQueryOptions({
    queryKey: ['runs', 'list', filter],
    queryFn: ({ pageParam, signal }) =>
      value(api.GET('/api/runs', { params: { query: { ...paged(pageParam), ...filter } }, signal })),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    refetchInterval: OFTEN,
  });

export const runQuery = (id: string) =>
  queryOptions({
    queryKey: ['runs', 'one', id],
    queryFn: () => whole<Run>(value(api.GET('/api/runs/{id}', { params: { path: { id } } }))),
    refetchInterval: ({ state: { data } }) => (data && hasEnded(data) ? false : OFTEN / 2),
  });

/** One step with everything, and of a map the items from a cursor on: more than its run carries. */
export const readStep = async (id: string, step: string, cursor?: string) => {
  const query = { step, ...(cursor ? { cursor } : {}) };
  const run = await whole<Run>(value(api.GET('/api/runs/{id}', { params: { path: { id }, query } })));
  return run.steps.find(({ name }) => name === step);
};

export const cancelRun = (id: string) => whole<Run>(value(api.POST('/api/runs/{id}/cancel', { params: { path: { id } } })));

export const triggersQuery = infiniteQueryOptions({
  queryKey: ['triggers', 'list'],
  queryFn: ({ pageParam, signal }) =>
    whole<Omit<Schemas['TriggerListing'], 'items'> & { items: Trigger[] }>(
      value(api.GET('/api/doc-triggers', { params: { query: paged(pageParam) }, signal })),
    ),
  initialPageParam: '',
  getNextPageParam: (page) => page.next_cursor ?? undefined,
  refetchInterval: 5 * OFTEN,
});

/** A trigger with its history, and the ETag a change of it names. */
export const triggerQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['triggers', 'one', id],
    queryFn: ({ pageParam, signal }) =>
      whole<{ value: TriggerDetail; etag: string }>(
        versioned(api.GET('/api/doc-triggers/{id}', { params: { path: { id }, query: paged(pageParam) }, signal })),
      ),
    initialPageParam: '',
    getNextPageParam: (page) => page.value.fires.next_cursor ?? undefined,
    refetchInterval: OFTEN,
  });

export const createTrigger = (body: TriggerDraft) =>
  whole<Trigger>(value(api.POST('/api/doc-triggers', { body: body as Schemas['NewTrigger'] })));

export const changeTrigger = (id: string, body: Partial<TriggerDraft>, etag?: string) =>
  whole<Trigger>(
    value(
      api.PATCH('/api/doc-triggers/{id}', {
        params: { path: { id }, header: etag ? { 'If-Match': etag } : {} },
        body: body as Schemas['TriggerChange'],
      }),
    ),
  );

export const deleteTrigger = (id: string) => value(api.DELETE('/api/doc-triggers/{id}', { params: { path: { id } } }));

/** What the newest uploads would have done. */
export function rehearse(id: string | null, body: TriggerDraft): Promise<Rehearsal> {
  const query = { dry_run: true };
  return whole(
    id === null
      ? value(api.POST('/api/doc-triggers', { params: { query }, body: body as Schemas['NewTrigger'] }))
      : value(api.PATCH('/api/doc-triggers/{id}', { params: { path: { id }, query }, body: body as Schemas['TriggerChange'] })),
  );
}
