/** How a run stands, in the same words and colours wherever one is shown: green is only what is good, and what waits does not run. */
import { CircleAlert, CircleCheckBig, CircleSlash, Hourglass, LoaderCircle, TriangleAlert, type LucideIcon } from 'lucide-react';
import type { Schemas } from '@/api/client';
import { useLanguage, type Formatter } from '@/i18n/language';
import { Badge, type Tone } from '@/ui/bits';

export type Outcome = Schemas['RunStanding']['outcome'];
export type Waiting = Required<Schemas['Waiting']>;
export type RunStanding = Omit<Schemas['RunStanding'], 'waiting'> & { waiting: Schemas['Waiting'] | null };

const HOUR = 3600;

export const OUTCOMES = {
  running: ['info', LoaderCircle],
  waiting: ['info', Hourglass],
  done: ['success', CircleCheckBig],
  done_with_failures: ['warning', TriangleAlert],
  failed: ['danger', CircleAlert],
  cancelled: ['neutral', CircleSlash],
} as const satisfies Record<Outcome, [Tone, LucideIcon]>;

type Words = Pick<Formatter, 't' | 'number'>;

/** Which limit it is that something waits for, without how much. */
function limitWords({ t }: Words, dimension: string | null | undefined): string {
  if (dimension?.startsWith('ai.')) return t('runs.waiting_ai');
  if (dimension === 'storage.bytes') return t('runs.waiting_storage');
  return dimension === 'jobs.concurrency' ? t('runs.waiting_team_cap') : t('runs.waiting_quota');
}

/** A stretch of time in whole numbers: the reader wants to know whether to wait. */
function spanWords({ t, number }: Words, seconds: number): string {
  if (seconds > 48 * HOUR) return t('runs.days', { n: Math.round(seconds / (24 * HOUR)) });
  if (seconds > 59.5 * 60) return t('time.span_hours', { n: number(Math.round(seconds / HOUR)) });
  return t('time.span_minutes', { n: number(Math.max(1, Math.round(seconds / 60))) });
}

/** What something waits for, and of a limit until when. */
export function waitingWords(language: Words, waiting: Schemas['Waiting'], now = Date.now()): string {
  if (waiting.reason !== 'quota') return language.t(`runs.waiting_${waiting.reason}`);
  const words = limitWords(language, waiting.dimension);
  const seconds = waiting.resets_at ? (Date.parse(waiting.resets_at) - now) / 1000 : 0;
  return seconds > 0 ? language.t('runs.waiting_resets', { waiting: words, span: spanWords(language, seconds) }) : words;
}

/** One sentence with a number in it. */
export function outcomeWords(language: Words, { outcome, failed_items: failed, waiting }: RunStanding, now?: number): string {
  if (waiting && outcome === 'waiting') return waitingWords(language, waiting, now);
  switch (outcome) {
    case 'running':
    case 'waiting':
      return language.t('runs.state_running');
    case 'done':
      return language.t('runs.state_succeeded');
    case 'done_with_failures':
      return language.t('runs.outcome_failures', { n: failed });
    case 'failed':
      return language.t('runs.state_failed');
    case 'cancelled':
      return language.t('runs.state_cancelled');
  }
}

export function OutcomeBadge({ standing }: { standing: RunStanding }) {
  const language = useLanguage();
  const [tone, Icon] = OUTCOMES[standing.outcome];
  return <Badge tone={tone}><Icon size={12} aria-hidden />{outcomeWords(language, standing)}</Badge>;
}
