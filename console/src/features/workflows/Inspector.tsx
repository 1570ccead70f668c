/** One step of a run: what it was given, what came of it, every attempt, and what can be done now. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleAlert, RotateCcw } from 'lucide-react';
import { Fragment, useId } from 'react';
import { useDuration } from '@/app/duration';
import { useLanguage } from '@/i18n/language';
import { Badge, Card, Code } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { dimensionKey, useAmount } from '@/ui/Meter';
import { Items } from './Items';
import { Json, Output } from './Output';
import type { Point } from './Resume';
import { hasEnded, readStep } from './server';
import type { Attempt, Fault, Run, Step } from './shapes';
import { adviceFor, secondsOf, StateBadge, StepBadge, useNow, waitWords } from './words';

interface Props {
  run: Run;
  step: Step | undefined;
  name: string;
  /** Absent where the reader may not start runs. */
  onResume?: ((at: Point) => void) | undefined;
}

export function Inspector({ run, step: told, name, onResume }: Props) {
  const language = useLanguage();
  const step = useWhole(run, told);
  const id = useId();
  const { t } = language;
  const wait = step && waitWords(language, step);
  return (
    <Card className="min-w-0 p-4">
      <section aria-labelledby={id} data-testid="inspector" data-step={name} className="grid grid-cols-[minmax(0,1fr)] gap-4">
        <div>
          <h2 id={id} data-raw className="font-mono font-semibold break-all">{name}</h2>
          <p role="status" className="mt-1.5 flex flex-wrap items-center gap-2">
            {step ? <StepBadge step={step} /> : <Badge>{t('runs.not_yet')}</Badge>}
            {step?.tool && <Code>{step.tool}</Code>}
            {step && <Took step={step} />}
          </p>
          {wait && <p className="mt-1.5 text-sm text-muted">{wait}</p>}
          {step?.state === 'skipped' && <p className="mt-1.5 text-sm text-muted">{t('runs.skipped_why')}</p>}
          {step?.reused_from && (
            <p className="mt-1.5 text-sm text-muted">
              {t('runs.reused')}{' '}
              <Link to="/runs/$id" params={{ id: step.reused_from }} search={{ step: name } as never} className="text-link hover:underline">
                {t('runs.reused_see')}
              </Link>
            </p>
          )}
        </div>
        {step?.error && <Failure error={step.error} />}
        {onResume && step && hasEnded(run) && step.state !== 'skipped' && <Again step={step} onResume={onResume} />}
        {step && <Contents run={run} step={step} />}
        {step && step.attempts.length > 0 && <Attempts attempts={step.attempts} />}
        {step && <Spent usage={step.usage} />}
      </section>
    </Card>
  );
}

/** A step whose values the run leaves out for their size is read alone. */
function useWhole(run: Run, step: Step | undefined): Step | undefined {
  const partial = step !== undefined && (step.omitted || (step.items ?? []).some((item) => item.omitted));
  const found = useQuery({
    queryKey: ['runs', 'one', run.id, 'step', step?.name, step?.state],
    queryFn: () => readStep(run.id, step!.name),
    enabled: partial,
  });
  return (partial && found.data) || step;
}

function Took({ step }: { step: Pick<Step, 'state' | 'started_at' | 'finished_at'> }) {
  const duration = useDuration();
  const now = useNow(step.state === 'running');
  const seconds = secondsOf(step, now);
  return seconds === null ? null : <span className="text-sm text-muted tnum">{duration(seconds)}</span>;
}

export function Failure({ error }: { error: Fault }) {
  const language = useLanguage();
  return (
    <div data-testid="failure" className="flex gap-2.5 rounded-lg bg-danger-soft px-3 py-2.5">
      <CircleAlert size={16} aria-hidden className="mt-0.5 shrink-0 text-danger" />
      <div className="grid min-w-0 gap-1">
        <p data-raw className="wrap-anywhere whitespace-pre-wrap text-danger">{error.message}</p>
        <p className="text-sm">{adviceFor(language, error)}</p>
        <p><Code>{error.code}</Code></p>
      </div>
    </div>
  );
}

/** A map goes on with what did not succeed, or with everything. */
function Again({ step, onResume }: { step: Step; onResume: (at: Point) => void }) {
  const { t } = useLanguage();
  const someFailed = step.counts !== null && step.counts.failed + step.counts.cancelled > 0;
  return (
    <p className="flex flex-wrap gap-2">
      {someFailed && (
        <Button kind="primary" size="small" onClick={() => onResume({ step: step.name, items: 'failed' })}>
          <RotateCcw size={14} aria-hidden />
          {t('runs.retry_items')}
        </Button>
      )}
      <Button
        kind={!someFailed && step.state === 'failed' ? 'primary' : 'default'}
        size="small"
        onClick={() => onResume({ step: step.name, ...(step.kind === 'map' ? { items: 'all' as const } : {}) })}
      >
        <RotateCcw size={14} aria-hidden />
        {t('runs.resume')}
      </Button>
    </p>
  );
}

function Contents({ run, step }: { run: Run; step: Step }) {
  const { t } = useLanguage();
  if (run.redacted) return step.items ? <Items run={run} step={step} /> : null;
  return (
    <>
      {step.output !== null && step.kind !== 'map' && <Output output={step.output} />}
      {step.items && <Items run={run} step={step} />}
      {step.kind === 'map' && step.output !== null && (
        <details>
          <summary className="flex h-8 items-center text-sm font-medium">{t('runs.output')}</summary>
          <Output output={step.output} />
        </details>
      )}
      {step.input !== null && (
        <section className="grid gap-2">
          <h3 className="text-sm font-medium text-muted">{t('runs.input')}</h3>
          <Json content={step.input} label={t('runs.input')} />
        </section>
      )}
    </>
  );
}

function Attempts({ attempts }: { attempts: Attempt[] }) {
  const { t, number } = useLanguage();
  return (
    <section>
      <h3 className="mb-1 text-sm font-medium text-muted">{t('jobs.attempts')}</h3>
      <ol className="divide-y divide-line">
        {attempts.map((one, at) => (
          <li key={at} data-testid="attempt" className="py-2">
            <p className="flex flex-wrap items-center gap-2">
              <span className="tnum">{t('runs.attempt', { n: number(one.attempt) })}</span>
              <StateBadge state={one.state} />
              <Took step={one} />
              {one.job_id && (
                <Link
                  to="/jobs/$id"
                  params={{ id: one.job_id }}
                  className="ms-auto inline-flex h-6 items-center text-sm text-link hover:underline"
                >
                  {t('runs.its_job')}
                </Link>
              )}
            </p>
            {one.error && <p data-raw className="mt-0.5 text-sm wrap-anywhere text-danger">{one.error.message}</p>}
          </li>
        ))}
      </ol>
    </section>
  );
}

function Spent({ usage }: { usage: Record<string, number> }) {
  const { t } = useLanguage();
  const spent = Object.entries(usage).filter(([, amount]) => amount > 0);
  if (spent.length === 0) return null;
  return (
    <section>
      <h3 className="mb-1 text-sm font-medium text-muted">{t('runs.spent')}</h3>
      <dl className="grid grid-cols-[1fr_auto] gap-x-4 gap-y-1 text-sm tnum">
        {spent.map(([dimension, amount]) => (
          <Fragment key={dimension}>
            <dt><Dimension name={dimension} /></dt>
            <dd className="text-end"><Amount dimension={dimension} amount={amount} /></dd>
          </Fragment>
        ))}
      </dl>
    </section>
  );
}

function Dimension({ name }: { name: string }) {
  const { find } = useLanguage();
  const words = find(dimensionKey(name));
  return words ?? <span data-raw>{name}</span>;
}

const Amount = ({ dimension, amount }: { dimension: string; amount: number }) => useAmount(dimension)(amount);
