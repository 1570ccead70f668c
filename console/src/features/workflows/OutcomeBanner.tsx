/** What a run has come to, in a sentence, with what can be done about it. */
import { Link } from '@tanstack/react-router';
import clsx from 'clsx';
import { RotateCcw } from 'lucide-react';
import { OUTCOMES, outcomeWords } from '@/app/outcome';
import { useMay } from '@/app/session';
import { useLanguage } from '@/i18n/language';
import { Button } from '@/ui/Button';
import { dimensionKey, useAmount } from '@/ui/Meter';
import type { Point } from './Resume';
import type { Run, Step } from './shapes';

const TONES = {
  info: 'bg-info-soft text-info',
  success: 'bg-success-soft text-success',
  warning: 'bg-warning-soft text-warning',
  danger: 'bg-danger-soft text-danger',
  neutral: 'bg-raised text-muted',
} as const;

/** The first map with items that failed, where a person may begin again. */
export const failedIn = (run: Run): Step | undefined => run.steps.find(({ counts }) => counts !== null && counts.failed > 0);

interface Props {
  run: Run;
  onRetry?: ((at: Point) => void) | undefined;
}

export function OutcomeBanner({ run, onRetry }: Props) {
  const language = useLanguage();
  const [tone, Icon] = OUTCOMES[run.outcome];
  const failed = run.outcome === 'done_with_failures' ? failedIn(run) : undefined;
  return (
    <div className={clsx('mb-5 flex flex-wrap items-start gap-x-4 gap-y-2 rounded-xl px-4 py-3', TONES[tone])}>
      <Icon size={18} aria-hidden className="mt-0.5 shrink-0" />
      <div className="min-w-0 flex-1 basis-52">
        <p role="status" data-testid="run-state" data-state={run.state} data-outcome={run.outcome} className="font-semibold">
          {outcomeWords(language, run)}
        </p>
        <More run={run} failed={failed} />
      </div>
      {failed?.counts && onRetry && (
        <Button size="small" onClick={() => onRetry({ step: failed.name, items: 'failed' })}>
          <RotateCcw size={14} aria-hidden />
          {language.t('runs.retry_failed', { n: failed.counts.failed })}
        </Button>
      )}
    </div>
  );
}

function More({ run, failed }: { run: Run; failed: Step | undefined }) {
  const { t, number } = useLanguage();
  if (failed?.counts) {
    const { succeeded, total } = failed.counts;
    return <p className="text-sm text-text">{t('runs.banner_failures', { done: number(succeeded), all: number(total) })}</p>;
  }
  return run.waiting && <WaitingMore waiting={run.waiting} />;
}

function WaitingMore({ waiting }: { waiting: NonNullable<Run['waiting']> }) {
  const { t, find, dateTime } = useLanguage();
  const may = useMay();
  const { dimension, used, limit } = waiting;
  const amount = useAmount(dimension ?? '');
  if (waiting.reason !== 'quota') return <p className="text-sm">{t('runs.waiting_since', { when: dateTime(waiting.since) })}</p>;
  return (
    <p className="text-sm">
      {dimension && used != null && limit != null
        ? t('runs.waiting_used', { used: amount(used), limit: amount(limit), dimension: find(dimensionKey(dimension)) ?? dimension })
        : t('runs.waiting_since', { when: dateTime(waiting.since) })}
      {may('settings:manage') && (
        <>
          {' '}
          <Link to="/settings/usage" className="font-medium underline">{t('nav.usage')}</Link>
        </>
      )}
    </p>
  );
}
