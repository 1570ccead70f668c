import { Link } from '@tanstack/react-router';
import type { Schemas } from '@/api/client';
import { useLanguage } from '@/i18n/language';
import { hasEnded } from './queries';

const LINK = 'inline-flex h-6 items-center text-link hover:underline';

/** What a job that is waited for has to say: that no worker is there, or what went wrong. */
export function JobNews({ job }: { job: Schemas['Job'] | null }) {
  const { t } = useLanguage();
  if (job === null || job.state === 'succeeded' || (!hasEnded(job) && job.waiting_reason === null)) return null;
  const failed = hasEnded(job);
  return (
    <p role={failed ? 'alert' : 'status'} className={failed ? 'text-danger' : 'text-muted'}>
      {failed ? <span data-raw className="wrap-anywhere">{job.error?.message}</span> : t('knowledge.job_waits')}{' '}
      <Link to="/jobs/$id" params={{ id: job.id }} className={LINK}>{t('knowledge.its_job')}</Link>
    </p>
  );
}
