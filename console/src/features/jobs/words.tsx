/** How a job stands, in words and colours. */
import { CircleAlert, CircleCheckBig, CircleSlash, Hourglass, LoaderCircle, type LucideIcon } from 'lucide-react';
import { useLanguage, type Formatter } from '@/i18n/language';
import { Badge, type Tone } from '@/ui/bits';
import type { JobSummary, State } from './queries';

const LOOK = {
  queued: ['neutral', Hourglass],
  running: ['info', LoaderCircle],
  succeeded: ['success', CircleCheckBig],
  failed: ['danger', CircleAlert],
  cancelled: ['neutral', CircleSlash],
} as const satisfies Record<State, [Tone, LucideIcon]>;

export function StateBadge({ state }: { state: State }) {
  const { t } = useLanguage();
  const [tone, Icon] = LOOK[state];
  return <Badge tone={tone}><Icon size={12} aria-hidden />{t(`jobs.state_${state}`)}</Badge>;
}

/** What a job waits for, or what is going on with it; nothing when its state says it all. */
export function reasonFor({ t, ago }: Formatter, job: JobSummary): string | null {
  if (job.state === 'running') return job.cancel_requested ? t('jobs.cancel_asked') : null;
  if (job.state !== 'queued') return null;
  if (job.waiting_reason === 'scheduled') {
    return job.attempt > 0 ? t('jobs.waits_again') : t('jobs.waits_scheduled', { when: ago(job.run_at) });
  }
  return job.waiting_reason ? t(`jobs.waits_${job.waiting_reason}`) : t('jobs.waits_turn');
}
