/** What a file was made from, and what was made from it. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Waypoints } from 'lucide-react';
import { api, value, type Schemas } from '@/api/client';
import { useLanguage } from '@/i18n/language';
import { Code, SkeletonRows } from '@/ui/bits';
import { Empty } from '@/ui/Empty';
import { Problem } from '@/ui/Problem';

type Thread = Schemas['Derivation'];

export function Origins({ id }: { id: string }) {
  const { t } = useLanguage();
  const found = useQuery({
    queryKey: ['file', id, 'processing'],
    queryFn: () => value(api.GET('/api/repo-obj/{id}/processing', { params: { path: { id } } })),
  });
  if (found.error) {
    return (
      <div className="p-4">
        <Problem error={found.error} onRetry={() => void found.refetch()} />
      </div>
    );
  }
  if (!found.data) return <SkeletonRows rows={2} label={t('app.loading')} />;
  const { sources, derived } = found.data;
  if (sources.length + derived.length === 0) {
    return <Empty icon={Waypoints} title={t('files.origins_none')} body={t('files.origins_none_body')} />;
  }
  return (
    <div className="grid gap-5 p-5">
      <Threads title={t('files.made_from')} threads={sources} end={(one) => ({ id: one.source_id, key: one.source_key })} />
      <Threads title={t('files.made_of_it')} threads={derived} end={(one) => ({ id: one.object_id, key: one.key })} />
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
              <Link to="/files/$id" params={{ id: other.id }} className="min-w-0 flex-1 truncate font-medium text-link hover:underline">
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
