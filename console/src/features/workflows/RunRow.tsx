/** A run in a list. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { RotateCcw, Zap } from 'lucide-react';
import { membersQuery } from '@/api/queries';
import { useDuration } from '@/app/duration';
import { OutcomeBadge } from '@/app/outcome';
import { useLanguage } from '@/i18n/language';
import { hasEnded } from './server';
import type { RunSummary } from './shapes';
import { secondsOf, useNow } from './words';

/** The name a person goes by here; who left is called as they signed in. */
export function useStarter({ started_by: by }: Pick<RunSummary, 'started_by'>): string {
  const members = useQuery(membersQuery);
  return members.data?.find(({ id }) => id === by.user_id)?.display_name ?? by.username;
}

/** Brief where the page says already which workflow it is. */
export function RunRow({ run, brief = false }: { run: RunSummary; brief?: boolean }) {
  const { t, ago, number } = useLanguage();
  const duration = useDuration();
  const starter = useStarter(run);
  const now = useNow(!hasEnded(run));
  const seconds = secondsOf({ started_at: run.created_at, finished_at: run.finished_at }, now) ?? 0;
  return (
    <li
      data-testid="run"
      data-state={run.state}
      data-outcome={run.outcome}
      className="relative flex flex-wrap items-center gap-x-4 gap-y-1 border-t border-line px-4 py-3 first:border-0 hover:bg-raised/60"
    >
      <div className="min-w-0 flex-1 basis-52">
        <p className="flex flex-wrap items-center gap-2">
          <Link
            data-row
            to="/runs/$id"
            params={{ id: run.id }}
            className="inline-flex min-h-6 min-w-0 items-center font-medium after:absolute after:inset-0 hover:underline"
          >
            {brief ? (
              <time dateTime={run.created_at}>{ago(run.created_at)}</time>
            ) : (
              <span data-raw className="break-words">{run.title}</span>
            )}
          </Link>
          <OutcomeBadge standing={run} />
          {run.trigger_id && <Zap size={14} role="img" aria-label={t('runs.by_trigger')} className="text-muted" />}
          {run.resumed_from && <RotateCcw size={14} role="img" aria-label={t('runs.resumed')} className="text-muted" />}
        </p>
        {run.error && (
          <p className="mt-0.5 line-clamp-2 text-sm text-danger">
            {run.error.step && <span data-raw className="font-mono">{run.error.step}: </span>}
            <span data-raw className="wrap-anywhere">{run.error.message}</span>
          </p>
        )}
      </div>
      <p className="flex flex-wrap gap-x-3 text-sm text-muted tnum">
        {run.outcome === 'running' && <span>{t('runs.steps_done', { n: number(run.steps_used) })}</span>}
        <span>{duration(seconds)}</span>
        {!brief && <span data-raw>{starter}</span>}
        {!brief && <time dateTime={run.created_at}>{ago(run.created_at)}</time>}
      </p>
    </li>
  );
}
