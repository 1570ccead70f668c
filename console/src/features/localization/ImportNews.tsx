/** An import while it runs, and its report once it has ended. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleAlert, CircleCheckBig, LoaderCircle, X } from 'lucide-react';
import { useEffect } from 'react';
import { useLanguage } from '@/i18n/language';
import { Card } from '@/ui/bits';
import { IconButton } from '@/ui/Overlay';
import { Problem } from '@/ui/Problem';
import { hasEnded, jobQuery, progressQuery, SOURCE, type Job } from './queries';
import { Language } from './words';

const COUNTED = ['added', 'changed', 'unchanged', 'stale', 'retired', 'kept', 'proposed'] as const;

interface Report {
  locales: Record<string, Record<(typeof COUNTED)[number], number>>;
  refused: { locale: string; key: string; code: string; message: string }[];
  refused_total: number;
}

const LOOKS = {
  queued: [LoaderCircle, 'text-info animate-spin'],
  running: [LoaderCircle, 'text-info animate-spin'],
  succeeded: [CircleCheckBig, 'text-success'],
  failed: [CircleAlert, 'text-danger'],
  cancelled: [CircleAlert, 'text-muted'],
} as const;

export function ImportNews({ id, onClose }: { id: string; onClose: () => void }) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const job = useQuery(jobQuery(id));
  const ended = job.data !== undefined && hasEnded(job.data);
  useEffect(() => {
    if (ended) void queries.invalidateQueries({ queryKey: ['localization'] });
  }, [ended, queries]);
  if (job.error) return <div className="mb-4"><Problem error={job.error} /></div>;
  if (!job.data) return null;
  const [Icon, look] = LOOKS[job.data.state];
  return (
    <Card className="mb-5 py-2.5 ps-4 pe-2">
      <div className="flex flex-wrap items-center gap-3">
        <Icon size={17} aria-hidden className={look} />
        <p role="status" data-testid="import" data-state={job.data.state} className="min-w-0 flex-1 basis-48"><State job={job.data} /></p>
        <Link to="/jobs/$id" params={{ id }} className="inline-flex h-7 items-center text-sm text-link hover:underline">
          {t('localization.its_job')}
        </Link>
        <IconButton label={t('ui.dismiss')} onClick={onClose}><X size={15} aria-hidden /></IconButton>
      </div>
      {job.data.state === 'running' && <Progress id={id} />}
      {job.data.state === 'succeeded' && <Result report={job.data.result as unknown as Report} />}
    </Card>
  );
}

function State({ job }: { job: Job }) {
  const { t } = useLanguage();
  if (job.state === 'failed') return <span data-raw className="wrap-anywhere text-danger">{job.error?.message}</span>;
  if (!hasEnded(job) && job.waiting_reason === 'no_worker') return t('localization.job_waits');
  if (job.state === 'succeeded' && (job.input as { dry_run?: boolean }).dry_run) return t('localization.import_tried');
  return t(`localization.import_${job.state}`);
}

/** How many of how many messages; nothing before the server has counted them. */
function Progress({ id }: { id: string }) {
  const { t, number } = useLanguage();
  const { data } = useQuery(progressQuery);
  if (data?.job !== id || data.total === 0) return null;
  const { done, total } = data;
  const told = t('localization.import_progress', { done: number(done), total: number(total) });
  return (
    <div className="mt-2 flex flex-wrap items-center gap-3 pe-2 text-sm text-muted" data-testid="import-progress">
      <progress className="h-2 min-w-40 flex-1" aria-label={told} value={done} max={total} />
      <span className="tnum">{told}</span>
    </div>
  );
}

function Result({ report }: { report: Report }) {
  const { t, number } = useLanguage();
  const locales = Object.keys(report.locales).filter((one) => one !== SOURCE);
  const shown = COUNTED.filter((name) => name === 'unchanged' || locales.some((one) => report.locales[one]![name] > 0));
  return (
    <div role="region" aria-label={t('localization.report')} tabIndex={0} className="mt-2 max-h-96 overflow-auto pe-2 -outline-offset-2">
      <table className="w-full text-start text-sm">
        <thead>
          <tr className="text-muted">
            <th scope="col" className="py-1 pe-4 text-start font-medium">{t('ui.language')}</th>
            {shown.map((name) => (
              <th key={name} scope="col" className="px-2 py-1 text-end font-medium">{t(`localization.report_${name}`)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {locales.map((one) => (
            <tr key={one} className="border-t border-line">
              <th scope="row" className="py-1 pe-4 text-start font-medium"><Language locale={one} /></th>
              {shown.map((name) => <td key={name} className="px-2 py-1 text-end tnum">{number(report.locales[one]![name])}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
      {report.refused_total > 0 && <Refused report={report} />}
    </div>
  );
}

function Refused({ report }: { report: Report }) {
  const { t } = useLanguage();
  return (
    <>
      <p className="mt-3 font-medium text-warning">{t('localization.report_refused', { n: report.refused_total })}</p>
      <ul className="mb-1 grid gap-1 text-sm">
        {report.refused.map((one) => (
          <li key={`${one.locale} ${one.key} ${one.code}`} data-raw className="wrap-anywhere">
            <b className="font-medium">{one.locale} {one.key}</b>: {one.message}
          </li>
        ))}
      </ul>
    </>
  );
}
