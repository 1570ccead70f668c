/** The items of a map: how many are done, and each with what came of it. */
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import clsx from 'clsx';
import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { useLanguage } from '@/i18n/language';
import { Artifact } from '@/ui/Artifact';
import { Button } from '@/ui/Button';
import { Problem } from '@/ui/Problem';
import { pathOf } from '@/ui/refs';
import { artifactsIn, Json } from './Output';
import { readStep } from './server';
import type { ItemCounts, MapItem, Run, Step } from './shapes';
import { adviceFor, LOOKS, waitWords } from './words';

/** What of a map's bar is which colour, in per cent; nothing that failed is drawn as done. */
export const partsOf = ({ total, succeeded, failed }: ItemCounts): { done: number; failed: number } => ({
  done: total ? (succeeded / total) * 100 : 0,
  failed: total ? (failed / total) * 100 : 0,
});

/** What needs attention comes first; the rest in the order of the list. */
const failedFirst = (one: MapItem, other: MapItem): number =>
  Number(other.state === 'failed') - Number(one.state === 'failed') || one.index - other.index;

export function Items({ run, step }: { run: Run; step: Step }) {
  const { t, number } = useLanguage();
  const [more, setMore] = useState<MapItem[]>([]);
  const [cursor, setCursor] = useState<string | null | undefined>(undefined);
  const next = cursor === undefined ? step.next_cursor : cursor;
  const items = [...(step.items ?? []), ...more];
  const counts = step.counts;
  const load = useMutation({
    mutationFn: () => readStep(run.id, step.name, next ?? undefined),
    onSuccess: (found) => {
      setMore([...more, ...(found?.items ?? [])]);
      setCursor(found?.next_cursor ?? null);
    },
  });
  if (!counts?.total) return <p className="text-sm text-muted">{t('runs.no_items')}</p>;
  return (
    <section aria-label={t('runs.items')} className="grid gap-2">
      <p role="status" className="flex flex-wrap items-baseline justify-between gap-2 text-sm">
        <span className="font-medium tnum">{t('runs.progress', { n: number(counts.succeeded), all: number(counts.total) })}</span>
        {counts.failed > 0 && <span className="text-danger tnum">{t('runs.failed_items', { n: counts.failed })}</span>}
        {counts.waiting > 0 && <span className="text-info tnum">{t('runs.waiting_items', { n: counts.waiting })}</span>}
      </p>
      <div
        role="progressbar"
        aria-label={t('runs.items')}
        aria-valuemin={0}
        aria-valuemax={counts.total}
        aria-valuenow={counts.total - counts.waiting - counts.running}
        className="flex h-1.5 overflow-hidden rounded-full bg-raised"
      >
        <div className="h-full bg-success" style={{ width: `${partsOf(counts).done}%` }} />
        <div className="h-full bg-danger" style={{ width: `${partsOf(counts).failed}%` }} />
      </div>
      <ol className="max-h-96 divide-y divide-line overflow-y-auto rounded-lg border border-line" tabIndex={0} aria-label={t('runs.items')}>
        {[...items].sort(failedFirst).map((item) => <ItemRow key={item.index} item={item} redacted={run.redacted} />)}
      </ol>
      <Problem error={load.error} />
      {next && <Button size="small" busy={load.isPending} onClick={() => load.mutate()}>{t('ui.more')}</Button>}
    </section>
  );
}

function ItemRow({ item, redacted }: { item: MapItem; redacted: boolean }) {
  const language = useLanguage();
  const { t, number } = language;
  const [, Icon, tone] = LOOKS[item.state];
  const artifacts = artifactsIn({ result: item.result });
  const waits = item.waiting_reason ? waitWords(language, item) : null;
  return (
    <li>
      <details data-testid="item" data-state={item.state} className="group">
        <summary className="flex min-h-9 items-center gap-2 px-3 py-1.5 text-sm -outline-offset-2">
          <Icon size={14} role="img" aria-label={t(`runs.state_${item.state}`)} className={clsx('shrink-0', tone)} />
          <span className="text-muted tnum">{number(item.index + 1)}</span>
          <span data-raw className="min-w-0 flex-1 truncate">{item.label}</span>
          <ChevronRight size={14} aria-hidden className="shrink-0 text-muted transition-transform group-open:rotate-90" />
        </summary>
        <div className="grid grid-cols-[minmax(0,1fr)] gap-2 px-3 pb-3 text-sm">
          {item.error && (
            <div>
              <p data-raw className="wrap-anywhere text-danger">{item.error.message}</p>
              <p className="text-muted">{adviceFor(language, item.error)}</p>
            </div>
          )}
          {waits && <p className="text-muted">{waits}</p>}
          {artifacts.map((one, at) => <Artifact key={at} artifact={one} />)}
          {!redacted && !item.error && artifacts.length === 0 && <Json content={item.result} label={t('runs.output')} />}
          <p className="flex flex-wrap items-center gap-x-3 text-muted">
            {item.ref && (
              <Link to={pathOf(item.ref)!} params={{ id: item.ref.id }} className="inline-flex h-6 items-center text-link hover:underline">
                {t(item.ref.kind === 'object' ? 'ui.open_file' : 'ui.open')}
              </Link>
            )}
            {item.attempt > 0 && <span>{t('runs.attempt', { n: number(item.attempt) })}</span>}
            {item.job_id && (
              <Link to="/jobs/$id" params={{ id: item.job_id }} className="inline-flex h-6 items-center text-link hover:underline">
                {t('runs.its_job')}
              </Link>
            )}
            {item.reused_from && <span>{t('runs.reused')}</span>}
          </p>
        </div>
      </details>
    </li>
  );
}
