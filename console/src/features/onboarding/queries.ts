/** What the server is asked about the sign-up form and those who filled it in. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, value, type Schemas } from '@/api/client';
import { PAGE } from '@/api/queries';
import { refusalOf } from '@/api/refusal';
import { tidied } from './editing';
import type { Experience } from './experience';

export type Day = Schemas['FunnelDay'];
export type Signal = Schemas['Signal'];
export type Verdict = Schemas['ProspectVerdict'];
export type Decision = Schemas['ProspectDecision'];
/** What the form asked is the form's to say. */
export type Answers = Record<string, unknown>;
export type Prospect = Omit<Schemas['Prospect'], 'fields' | 'later'> & { fields: Answers; later: Answers[] };
export type State = Prospect['state'];
export type VerdictName = NonNullable<Verdict['verdict']>;
export type Asset = Schemas['FunnelAsset'];
export type AssetKind = Asset['kind'];
export type Kept = Omit<Schemas['FunnelExperience'], 'experience'> & { experience: Partial<Experience> };

export const STATES: State[] = ['captured', 'accepted', 'declined'];
export const VERDICTS: VerdictName[] = ['promising', 'unsure', 'unfit', 'pass', 'suspect'];

/** Which sign-ups, as it stands in the address. */
export interface Wanted {
  state?: State;
  verdict?: VerdictName;
  q?: string;
}

export const prospectsQuery = (wanted: Wanted) =>
  infiniteQueryOptions({
    queryKey: ['onboarding', 'prospects', wanted],
    queryFn: async ({ pageParam, signal }) => {
      const query = { ...wanted, limit: PAGE, ...(pageParam ? { cursor: pageParam } : {}) };
      const page = await value(api.GET('/api/beta/prospects', { params: { query }, signal }));
      return { ...page, items: page.items as Prospect[] };
    },
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });

export const experienceQuery = queryOptions({
  queryKey: ['onboarding', 'experience'],
  queryFn: async () => (await value(api.GET('/api/beta/experience'))) as Kept,
});

/** Whether the root address shows the form. */
export const homeQuery = queryOptions({
  queryKey: ['onboarding', 'home'],
  queryFn: async () => (await value(api.GET('/api/config'))).home,
  staleTime: Infinity,
});

export const decide = (id: string, body: Decision) =>
  value(api.POST('/api/beta/prospects/{id}/decide', { params: { path: { id } }, body }));

export const readVersion = async (version: number) =>
  (await value(api.GET('/api/beta/experience', { params: { query: { version } } }))) as Kept;

/** The document is an object to the API, whatever is in it. */
export async function saveExperience(form: Experience, revision: string): Promise<Kept> {
  const body = { experience: tidied(form) as never };
  return (await value(api.PUT('/api/beta/experience', { body, headers: { 'if-match': `"${revision}"` } }))) as Kept;
}

export const publish = () => value(api.POST('/api/beta/experience/publish', {}));

/** The most files that a form can have. */
const MOST_FILES = 100;

export const assetsQuery = queryOptions({
  queryKey: ['onboarding', 'assets'],
  queryFn: async ({ signal }) => (await value(api.GET('/api/beta/assets', { params: { query: { limit: MOST_FILES } }, signal }))).items,
});

export const uploadAsset = (body: Schemas['FunnelUpload']) => value(api.POST('/api/beta/assets', { body }));
export const deleteAsset = (id: string) => value(api.DELETE('/api/beta/asset/{id}', { params: { path: { id } } }));

/** The instance's colours, which show through; asked for without a credential, as visitors do. */
export const lookQuery = queryOptions({
  queryKey: ['onboarding', 'look'],
  queryFn: async () => {
    const answer = await fetch('/api/branding', { credentials: 'omit' });
    if (!answer.ok) throw await refusalOf(answer);
    return ((await answer.json()) as Schemas['Branding']).theme as Record<string, string>;
  },
  staleTime: Infinity,
});

/** The job that judges answers which were made up. */
export async function tryJudge(form: Experience, answers: Answers): Promise<string> {
  const body = { experience: tidied(form) as never, answers: answers as never };
  const { job } = (await value(api.PUT('/api/beta/experience', { params: { query: { dry_run: true } }, body }))) as Schemas['JudgeTrial'];
  return job;
}

const OFTEN = 500;

/** How far the trial is, and what the judge says once it has said it. */
export const trialQuery = (id: string) =>
  queryOptions({
    queryKey: ['onboarding', 'trial', id],
    queryFn: async ({ signal }) => {
      const job = await value(api.GET('/api/jobs/{id}', { params: { path: { id } }, signal }));
      const { state, waiting_reason, error, result, finished_at } = job;
      const said = result as Pick<Verdict, 'verdict' | 'score' | 'reasons' | 'model'> | null;
      const verdict: Verdict | null = state === 'succeeded' && said ? { ...said, by: 'judge', at: finished_at ?? '' } : null;
      return { state, alone: waiting_reason === 'no_worker', error, verdict };
    },
    refetchInterval: ({ state: { data } }) => (!data || data.state === 'queued' || data.state === 'running' ? OFTEN : false),
  });
