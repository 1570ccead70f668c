/** What a file was made from, what was made from it, and the runs that worked on it. */
import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Waypoints } from 'lucide-react';
import { api, value, type Schemas } from '@/api/client';
import { useLanguage } from '@/i18n/language';
import { OutcomeBadge } from '@/app/outcome';
import { useMay } from '@/app/session';
import { Code, SkeletonRows } from '@/ui/bits';
import { Empty } from '@/ui/Empty';
import { Problem } from '@/ui/Problem';

type Thread = Schemas['Derivation'];
const LINK = 'min-w-0 flex-1 truncate leading-6 font-medium text-link hover:underline';

export default function Processing({ id }: { id: string }) {
  const { t } = useLanguage();
  const may = useMay();
  const found = useQuery({
    queryKey: ['file', id, 'processing'],
    queryFn: () => value(api.GET('/api/repo-obj/{id}/processing', { params: { path: { id } } })),
    refetchInterval: 5000,
  });
  if (found.error) {
    return (
      <div className="p-4">
        <Problem error={found.error} onRetry={() => void found.refetch()} />
      </div>
    );
  }
  if (!found.data) return <SkeletonRows rows={2} label={t('app.loading')} />;
  const { sources, derived, runs } = found.data;
  if (sources.length + derived.length + runs.length === 0) {
    return <Empty icon={Waypoints} title={t('files.processing_none')} body={t('files.processing_none_body')} />;
  }
  return (
    <div className="grid gap-5 p-5">
      <Threads title={t('files.made_from')} threads={sources} end={(one) => ({ id: one.source_id, key: one.source_key })} />
      <Threads title={t('files.made_of_it')} threads={derived} end={(one) => ({ id: one.object_id, key: one.key })} />
      {runs.length > 0 && may('workflows:read') && <Runs ids={runs} />}
    </div>
  );
}

function Threads({ title, threads, end }: { title: string; threads: Thread[]; end: (thread: Thread) => { id: string; key: string } }) {
  const { t, ago } = useLanguage();
  if (threads.length === 0) return null;
  return (
    <section>
      <h2 className="mb-2 font-semibold">{title}</h2>
      <ul className="divide-y divide-line">
        {threads.map((thread) => {
          const other = end(thread);
          return (
            <li key={thread.version_id + thread.source_version_id} className="flex flex-wrap items-baseline gap-x-3 py-2">
              <Link to="/files/$id" params={{ id: other.id }} className={LINK}>
                <span data-raw>{other.key}</span>
              </Link>
              {thread.step && <Code>{thread.step}</Code>}
              <span className="text-sm text-muted">{thread.run_id ? t('files.by_run', { when: ago(thread.at) }) : ago(thread.at)}</span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

const MOST = 10;

/** The newest of them with how they stand; a run that was cleared away meanwhile is left out. */
function Runs({ ids }: { ids: string[] }) {
  const { t, ago } = useLanguage();
  const runs = useQueries({
    queries: ids.slice(0, MOST).map((id) => ({
      queryKey: ['runs', 'one', id],
      queryFn: () => value(api.GET('/api/runs/{id}', { params: { path: { id } } })),
    })),
  });
  return (
    <section>
      <h2 className="mb-2 font-semibold">{t('files.runs')}</h2>
      <ul className="divide-y divide-line">
        {runs.flatMap(({ data: run }) =>
          run ? (
            <li key={run.id} data-testid="file-run" className="flex flex-wrap items-center gap-x-3 py-2">
              <Link to="/runs/$id" params={{ id: run.id }} className={LINK}>
                <span data-raw>{run.title}</span>
              </Link>
              <OutcomeBadge standing={run} />
              <time dateTime={run.created_at} className="text-sm text-muted">{ago(run.created_at)}</time>
            </li>
          ) : (
            []
          ),
        )}
      </ul>
      {ids.length > MOST && <p className="mt-2 text-sm text-muted">{t('files.runs_more', { n: ids.length - MOST })}</p>}
    </section>
  );
}
