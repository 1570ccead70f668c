/** The team's jobs as they come, wait, run and end. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useSearch } from '@tanstack/react-router';
import clsx from 'clsx';
import { ListTodo, Play, X } from 'lucide-react';
import { useRef, useState } from 'react';
import { membersQuery, type Member } from '@/api/queries';
import { useLanguage } from '@/i18n/language';
import { Page } from '@/app/Page';
import { useMay, useReadOnly } from '@/app/session';
import { Button, buttonClass } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { ListPage } from '@/ui/ListPage';
import { IconButton } from '@/ui/Overlay';
import { useRowKeys } from '@/ui/rows';
import { Cancel, useMayCancel } from './Cancel';
import { jobsQuery, STATES, type JobSummary, type State } from './queries';
import { QueueCharts } from './QueueCharts';
import { reasonFor, StateBadge } from './words';

export default function JobsPage() {
  const { t } = useLanguage();
  const may = useMay();
  const readOnly = useReadOnly();
  const [state, choose] = useStateFilter();
  const jobs = useInfiniteQuery(jobsQuery(state));
  const items = jobs.data?.pages.flatMap((page) => page.items);
  const tryOne = may('chat:use') && !readOnly && (
    <Link to="/jobs/try" className={buttonClass('primary')}>
      <Play size={15} aria-hidden />
      {t('nav.try_job')}
    </Link>
  );
  const empty = state ? (
    <Empty
      icon={ListTodo}
      title={t('jobs.none_of_state')}
      body={t('jobs.none_of_state_body')}
      action={<Button onClick={() => choose(undefined)}>{t('jobs.all')}</Button>}
    />
  ) : (
    <Empty icon={ListTodo} title={t('jobs.none_title')} body={t('jobs.none_body')} action={tryOne} />
  );
  return (
    <Page title={t('nav.jobs')} description={t('jobs.lead')} actions={tryOne}>
      <QueueCharts />
      <Filter state={state} onChoose={choose} />
      <ListPage query={jobs} empty={items?.length === 0 && empty}>
        {items && items.length > 0 && <JobList jobs={items} />}
      </ListPage>
      <Outlet />
    </Page>
  );
}

function useStateFilter(): [State | undefined, (state: State | undefined) => void] {
  const search = useSearch({ strict: false }) as { state?: string };
  const navigate = useNavigate();
  return [
    STATES.find((one) => one === search.state),
    (state) => void navigate({ to: '/jobs', search: (state ? { state } : {}) as never, replace: true }),
  ];
}

function Filter({ state, onChoose }: { state: State | undefined; onChoose: (state: State | undefined) => void }) {
  const { t } = useLanguage();
  return (
    <div role="group" aria-label={t('jobs.filter')} className="mb-3 flex w-fit flex-wrap rounded-md bg-raised p-0.5">
      {[undefined, ...STATES].map((one) => (
        <button
          key={one ?? 'all'}
          type="button"
          aria-pressed={state === one}
          onClick={() => onChoose(one)}
          className={clsx(
            'h-7 rounded-sm px-2.5 text-sm font-medium',
            state === one ? 'bg-surface text-text shadow-card' : 'text-muted hover:text-text',
          )}
        >
          {t(one ? `jobs.state_${one}` : 'jobs.all')}
        </button>
      ))}
    </div>
  );
}

function JobList({ jobs }: { jobs: JobSummary[] }) {
  const members = useQuery(membersQuery);
  const [cancelling, setCancelling] = useState<JobSummary | null>(null);
  const list = useRef<HTMLUListElement>(null);
  useRowKeys(list);
  return (
    <>
      <ul ref={list}>
        {jobs.map((job) => (
          <Row key={job.id} job={job} owner={members.data?.find(({ id }) => id === job.user_id)} onCancel={setCancelling} />
        ))}
      </ul>
      {cancelling && <Cancel job={cancelling} onClose={() => setCancelling(null)} />}
    </>
  );
}

function Row({ job, owner, onCancel }: { job: JobSummary; owner: Member | undefined; onCancel: (job: JobSummary) => void }) {
  const language = useLanguage();
  const { t, ago, number } = language;
  const mayCancel = useMayCancel();
  const reason = reasonFor(language, job);
  return (
    <li
      data-testid="job"
      data-state={job.state}
      className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-4 py-3 last:border-0 hover:bg-raised/60"
    >
      <div className="min-w-0 flex-1 basis-64">
        <p className="flex flex-wrap items-center gap-2">
          <Link data-row data-raw to="/jobs/$id" params={{ id: job.id }} className="min-w-0 font-medium break-all hover:underline">
            {job.kind}
          </Link>
          <StateBadge state={job.state} />
        </p>
        {reason && <p className="mt-0.5 text-sm text-muted">{reason}</p>}
        {job.error && job.state !== 'succeeded' && (
          <p data-raw className="mt-0.5 line-clamp-2 text-sm break-words text-danger">{job.error.message}</p>
        )}
      </div>
      <p className="flex flex-wrap gap-x-3 text-sm text-muted tnum">
        {job.attempt > 1 && <span>{t('jobs.attempt_of', { n: number(job.attempt), most: number(job.max_attempts) })}</span>}
        {owner && <span data-raw>{owner.display_name}</span>}
        <time dateTime={job.created_at}>{ago(job.created_at)}</time>
      </p>
      {mayCancel(job) && (
        <IconButton label={t('jobs.cancel_name', { name: job.kind })} onClick={() => onCancel(job)}>
          <X size={16} aria-hidden />
        </IconButton>
      )}
    </li>
  );
}
