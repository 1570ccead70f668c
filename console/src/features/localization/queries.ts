/** What the server is asked about the messages of the console. */
import { infiniteQueryOptions, queryOptions, type QueryClient } from '@tanstack/react-query';
import { api, value, type Schemas } from '@/api/client';

export type LocaleCoverage = Schemas['LocaleCoverage'];
export type Counts = Pick<LocaleCoverage, 'total' | 'approved' | 'machine' | 'missing' | 'stale' | 'pending'>;
export type Message = Schemas['LocalMessage'];
export type Status = Message['status'];
export type Shown = Status | 'pending';
export type Job = Schemas['Job'];
export type FileFormat = NonNullable<Schemas['ExportAsk']['format']>;

/** Its texts change in files alone. */
export const SOURCE = 'en';
/** The most the server lists at once. */
const MOST = 200;
const OFTEN = 1000;
const DRAFTS = 'localization.draft';

/** Which messages, as it stands in the address. */
export interface Wanted {
  locale: string;
  status?: Shown;
  ns?: string;
  q?: string;
}

export const coverageQuery = queryOptions({
  queryKey: ['localization', 'coverage'],
  queryFn: async ({ signal }) => (await value(api.GET('/api/l10n/coverage', { signal }))).items.filter(({ locale }) => locale !== SOURCE),
});

/** How far the import that runs is; null once none does. */
export const progressQuery = queryOptions({
  queryKey: ['localization', 'importing'],
  queryFn: async ({ signal }) => (await value(api.GET('/api/l10n/coverage', { signal }))).importing ?? null,
  refetchInterval: OFTEN,
});

const listMessages = (query: Wanted & { cursor?: string }, signal: AbortSignal) =>
  value(api.GET('/api/l10n/messages', { params: { query: { ...query, limit: MOST } }, signal }));

export const messagesQuery = (wanted: Wanted) =>
  infiniteQueryOptions({
    queryKey: ['localization', 'messages', wanted],
    queryFn: ({ pageParam, signal }) => listMessages({ ...wanted, ...(pageParam ? { cursor: pageParam } : {}) }, signal),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    enabled: wanted.locale !== '',
  });

export const nsOf = (key: string): string => key.split('.')[0]!;

/** One message by its key, or null when the catalog has none such. */
export const messageQuery = (locale: string, key: string) =>
  queryOptions({
    queryKey: ['localization', 'message', locale, key],
    queryFn: async ({ signal }) =>
      (await listMessages({ locale, ns: nsOf(key), q: key }, signal)).items.find((one) => one.key === key) ?? null,
    enabled: locale !== '' && key !== '',
  });

/** The texts that a message had before, the last one first. */
export const historyQuery = ({ id, locale, ns, key, revision }: Message) =>
  queryOptions({
    queryKey: ['localization', 'history', id, revision],
    queryFn: async ({ signal }) => {
      const { items } = await value(api.GET('/api/l10n/messages', { params: { query: { locale, ns, q: key, history: true } }, signal }));
      return items.find((one) => one.id === id)?.history ?? [];
    },
  });

export const hasEnded = ({ state }: { state: string }): boolean => state !== 'queued' && state !== 'running';

export const jobQuery = (id: string) =>
  queryOptions({
    queryKey: ['jobs', 'one', id],
    queryFn: () => value(api.GET('/api/jobs/{id}', { params: { path: { id } } })),
    refetchInterval: ({ state: { data } }) => (data && hasEnded(data) ? false : OFTEN / 2),
  });

/** Jobs that draft and have not ended; asked again while there are some. */
export const draftJobsQuery = queryOptions({
  queryKey: ['localization', 'drafting'],
  queryFn: async ({ signal }) => {
    const list = async (state: 'queued' | 'running') =>
      (await value(api.GET('/api/jobs', { params: { query: { kind: DRAFTS, state, limit: MOST } }, signal }))).items;
    return (await Promise.all([list('running'), list('queued')])).flat();
  },
  refetchInterval: ({ state: { data } }) => (data?.length ? OFTEN : false),
});

export const startImport = (body: Schemas['ImportAsk']) => value(api.POST('/api/l10n/import', { body }));
export const exportLocale = (locale: string, format: FileFormat | null) =>
  value(api.POST('/api/l10n/export', { body: { locale, format } }));

export const startDrafts = (locale: string, goOn: boolean) => value(api.POST('/api/l10n/draft', { body: { locale, continue: goOn } }));
export const discardDrafts = (locale: string) => value(api.POST('/api/l10n/discard', { body: { locale } }));
export const cancelJobs = (ids: string[]) =>
  Promise.all(ids.map((id) => value(api.POST('/api/jobs/{id}/cancel', { params: { path: { id } } }))));

/** A text for a message, unless the message changed after this revision of it was read. */
export const submitText = (id: string, revision: number, text: string) =>
  value(api.PUT('/api/l10n/messages/{id}', { params: { path: { id }, header: { 'If-Match': `"${revision}"` } }, body: { text } }));

/** What a reviewer decided about the message as it was read. */
export const reviewText = ({ id, revision }: Message, decision: 'approve' | 'send_back', comment = '') =>
  value(
    api.POST('/api/l10n/review/{id}', {
      params: { path: { id }, header: { 'If-Match': `"${revision}"` } },
      body: { decision, comment },
    }),
  );

/** A message changed: wherever it is listed it stands as it is now. */
export function showMessage(queries: QueryClient, changed: Message): void {
  type Pages = { pages: Schemas['Page_LocalMessage_'][] };
  const replaced = (one: Message) => (one.id === changed.id ? changed : one);
  queries.setQueriesData<Pages>({ queryKey: ['localization', 'messages'] }, (found) =>
    found && { ...found, pages: found.pages.map((page) => ({ ...page, items: page.items.map(replaced) })) },
  );
  queries.setQueryData(messageQuery(changed.locale, changed.key).queryKey, changed);
  void queries.invalidateQueries({ queryKey: coverageQuery.queryKey });
}
