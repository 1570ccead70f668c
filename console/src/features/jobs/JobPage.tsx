/** One job: what it was given, where it stands, what came out. */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { ArrowLeft, CircleAlert, SearchX } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { membersQuery } from '@/api/queries';
import { isRefusal } from '@/api/refusal';
import { useLanguage } from '@/i18n/language';
import { useDuration } from '@/app/duration';
import { Page } from '@/app/Page';
import { useIdentity, useMay } from '@/app/session';
import { Card, Code, SkeletonRows } from '@/ui/bits';
import { Button, buttonClass } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { Problem } from '@/ui/Problem';
import { CopyButton } from '@/ui/Secret';
import { Cancel, useMayCancel } from './Cancel';
import { hasEnded, jobQuery, type Job } from './queries';
import { reasonFor, StateBadge } from './words';

export default function JobPage() {
  const { t } = useLanguage();
  const { id = '' } = useParams({ strict: false });
  const job = useQuery(jobQuery(id));
  if (job.data) return <Found key={id} job={job.data} />;
  if (isRefusal(job.error) && job.error.status === 404) {
    return (
      <Page title={t('jobs.missing_title')}>
        <Card>
          <Empty
            icon={SearchX}
            title={t('jobs.missing_title')}
            body={t('jobs.missing_body')}
            action={<Link to="/jobs" className={buttonClass()}>{t('nav.jobs')}</Link>}
          />
        </Card>
      </Page>
    );
  }
  return (
    <Page title={t('app.loading')}>
      {job.error ? (
        <Problem error={job.error} onRetry={() => void job.refetch()} />
      ) : (
        <Card><SkeletonRows label={t('app.loading')} /></Card>
      )}
    </Page>
  );
}

function Found({ job }: { job: Job }) {
  const language = useLanguage();
  const { t } = language;
  const mayCancel = useMayCancel();
  const [cancelling, setCancelling] = useState(false);
  const reason = reasonFor(language, job);
  return (
    <Page title={job.kind} raw actions={mayCancel(job) && <Button onClick={() => setCancelling(true)}>{t('jobs.cancel')}</Button>}>
      <Link to="/jobs" className="mb-4 -mt-3 inline-flex h-7 items-center gap-1.5 text-sm text-muted hover:text-text">
        <ArrowLeft size={14} aria-hidden />
        {t('nav.jobs')}
      </Link>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
        <Card className="p-5">
          <div role="status" data-testid="job-state" data-state={job.state} className="flex flex-wrap items-center gap-3">
            <StateBadge state={job.state} />
            {reason && <span className="text-muted">{reason}</span>}
          </div>
          <Facts job={job} />
        </Card>
        {job.error && <Failure job={job} error={job.error} />}
        <Contents job={job} />
      </div>
      {cancelling && <Cancel job={job} onClose={() => setCancelling(false)} />}
    </Page>
  );
}

function Facts({ job }: { job: Job }) {
  const { t, dateTime, number } = useLanguage();
  const duration = useDuration();
  const members = useQuery(membersQuery);
  const owner = members.data?.find(({ id }) => id === job.user_id);
  const ran = job.started_at && job.finished_at ? (Date.parse(job.finished_at) - Date.parse(job.started_at)) / 1000 : null;
  return (
    <dl className="mt-4 grid gap-4 sm:grid-cols-3">
      <Fact name={t('jobs.queued_at')}>{dateTime(job.created_at)}</Fact>
      <Fact name={t('jobs.attempts')}>{t('jobs.attempt_of', { n: number(job.attempt), most: number(job.max_attempts) })}</Fact>
      <Fact name={t('jobs.owner')}><span data-raw>{owner?.display_name ?? '–'}</span></Fact>
      {job.started_at && <Fact name={t('jobs.started_at')}>{dateTime(job.started_at)}</Fact>}
      {job.finished_at && <Fact name={t('jobs.finished_at')}>{dateTime(job.finished_at)}</Fact>}
      {ran !== null && <Fact name={t('jobs.ran')}>{duration(Math.max(0, ran))}</Fact>}
      {job.model && <Fact name={t('jobs.model')}><Code>{job.model}</Code></Fact>}
      {job.priority !== 0 && <Fact name={t('jobs.priority')}>{number(job.priority)}</Fact>}
      <Fact name={t('jobs.id')}><Code>{job.id}</Code></Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return <div className="min-w-0"><dt className="text-sm text-muted">{name}</dt><dd className="mt-0.5 font-medium">{children}</dd></div>;
}

function Failure({ job, error }: { job: Job; error: NonNullable<Job['error']> }) {
  const { t } = useLanguage();
  return (
    <Card className="flex gap-3 p-5">
      <CircleAlert size={18} aria-hidden className="mt-0.5 shrink-0 text-danger" />
      <div className="min-w-0">
        <h2 className="font-semibold">{t(hasEnded(job) ? 'jobs.error' : 'jobs.error_before')}</h2>
        <p data-raw className="mt-1 break-words whitespace-pre-wrap">{error.message}</p>
      </div>
    </Card>
  );
}

/** Input and result, which only its owner and the team's admins see. */
function Contents({ job }: { job: Job }) {
  const { t } = useLanguage();
  const { user } = useIdentity();
  const may = useMay();
  if (job.user_id !== user.id && !may('settings:manage')) return <p className="text-sm text-muted">{t('jobs.not_yours')}</p>;
  return (
    <>
      {job.state === 'succeeded' && <Json name={t('jobs.result')} content={job.result} />}
      <Json name={t('jobs.input')} content={job.input} />
    </>
  );
}

function Json({ name, content }: { name: string; content: unknown }) {
  const text = JSON.stringify(content, null, 2);
  return (
    <section aria-label={name}>
      <div className="mb-2 flex items-center justify-between gap-3">
        <h2 className="font-semibold">{name}</h2>
        <CopyButton text={text} />
      </div>
      <pre data-raw tabIndex={0} className="max-h-96 overflow-auto rounded-lg bg-raised p-4 font-mono text-sm">
        {text}
      </pre>
    </section>
  );
}
