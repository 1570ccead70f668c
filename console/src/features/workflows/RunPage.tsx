/** One run: its steps as a graph or as a list, and a closer look at one of them. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import clsx from 'clsx';
import { ArrowLeft, CirclePlay, EyeOff, List, SearchX, Workflow } from 'lucide-react';
import { useMemo, useState, type ReactNode } from 'react';
import { isRefusal } from '@/api/refusal';
import { useDuration } from '@/app/duration';
import { useLanguage } from '@/i18n/language';
import { lazyDialog } from '@/app/lazy-dialog';
import { Page } from '@/app/Page';
import { useIdentity, useMay, useReadOnly } from '@/app/session';
import { Badge, Card, SkeletonRows } from '@/ui/bits';
import { Button, buttonClass } from '@/ui/Button';
import { Confirm } from '@/ui/Confirm';
import { Empty } from '@/ui/Empty';
import { Problem } from '@/ui/Problem';
import { toast } from '@/ui/toast';
import { Graph, type Standing } from './Graph';
import { Failure, Inspector } from './Inspector';
import { stepsIn, type Edge } from './layout';
import { OutcomeBanner } from './OutcomeBanner';
import { Json } from './Output';
import type { Point } from './Resume';
import { useStarter } from './RunRow';
import { cancelRun, hasEnded, runQuery, workflowQuery } from './server';
import type { Run, SpecStep, Step } from './shapes';
import { lookOf, secondsOf, StepBadge, stepWords, useNow, waitWords } from './words';

const Resume = lazyDialog(() => import('./Resume'));

export default function RunPage() {
  const { t } = useLanguage();
  const { id = '' } = useParams({ strict: false });
  const run = useQuery(runQuery(id));
  if (run.data) return <Found key={id} run={run.data} />;
  if (isRefusal(run.error) && run.error.status === 404) {
    return (
      <Page title={t('runs.missing_title')}>
        <Card>
          <Empty
            icon={SearchX}
            title={t('runs.missing_title')}
            body={t('runs.missing_body')}
            action={<Link to="/runs" className={buttonClass()}>{t('nav.runs')}</Link>}
          />
        </Card>
      </Page>
    );
  }
  return (
    <Page title={t('app.loading')}>
      {run.error ? (
        <Problem error={run.error} onRetry={() => void run.refetch()} />
      ) : (
        <Card><SkeletonRows label={t('app.loading')} /></Card>
      )}
    </Page>
  );
}

/** Where a reader looks first: what failed, what goes on, what came last. */
const firstOf = (run: Run): string | null =>
  run.error?.step ??
  run.steps.find(({ state }) => state === 'failed')?.name ??
  run.steps.find(({ state }) => state === 'running' || state === 'queued')?.name ??
  run.steps.findLast(({ state }) => state === 'succeeded')?.name ??
  run.steps[0]?.name ??
  null;

function useAddress(run: Run) {
  const search = useSearch({ strict: false }) as { step?: string; view?: string };
  const navigate = useNavigate();
  const view = search.view === 'list' ? 'list' : 'graph';
  const go = (next: { step?: string; view?: string }) =>
    void navigate({ to: '/runs/$id', params: { id: run.id }, search: { ...search, ...next } as never, replace: true });
  return {
    selected: search.step ?? firstOf(run),
    view,
    select: (step: string) => go({ step }),
    show: (next: string) => go({ view: next }),
  };
}

function Found({ run }: { run: Run }) {
  const { t } = useLanguage();
  const may = useMay();
  const readOnly = useReadOnly();
  const { selected, view, select, show } = useAddress(run);
  const [point, setPoint] = useState<Point | null>(null);
  const definition = useQuery({ ...workflowQuery(run.workflow.slug, run.workflow.version), staleTime: Infinity });
  const steps = useMemo(() => (definition.data ? stepsIn(definition.data.spec) : run.steps.map(asSpec)), [definition.data, run.steps]);
  const step = run.steps.find(({ name }) => name === selected);
  const resumes = may('workflows:run') && !readOnly;
  return (
    <Page title={run.title} raw actions={<Actions run={run} />}>
      <Link to="/runs" className="mb-4 -mt-3 inline-flex h-7 items-center gap-1.5 text-sm text-muted hover:text-text">
        <ArrowLeft size={14} aria-hidden />
        {t('nav.runs')}
      </Link>
      <OutcomeBanner run={run} onRetry={resumes ? setPoint : undefined} />
      <Facts run={run} />
      {run.error && !run.error.step && <div className="mb-5"><Failure error={run.error} /></div>}
      {run.redacted && (
        <p className="mb-5 flex items-start gap-2 rounded-lg bg-info-soft px-3 py-2.5 text-sm text-info">
          <EyeOff size={16} aria-hidden className="mt-0.5 shrink-0" />
          {t('runs.redacted')}
        </p>
      )}
      <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_24rem]">
        <Card className="min-w-0 overflow-hidden">
          <Views view={view} onView={show} />
          {view === 'graph' ? (
            <RunGraph run={run} steps={steps} selected={selected} onSelect={select} />
          ) : (
            <StepList run={run} steps={steps} selected={selected} onSelect={select} />
          )}
        </Card>
        {selected && <Inspector run={run} step={step} name={selected} onResume={resumes ? setPoint : undefined} />}
      </div>
      {!run.redacted && <Whole run={run} />}
      {point && <Resume run={run} at={point} onClose={() => setPoint(null)} />}
    </Page>
  );
}

const asSpec = ({ name, kind, tool }: Step): SpecStep => ({ name, kind, ...(tool ? { tool } : {}) });

function Actions({ run }: { run: Run }) {
  const { t } = useLanguage();
  const { user } = useIdentity();
  const may = useMay();
  const readOnly = useReadOnly();
  const [cancelling, setCancelling] = useState(false);
  const mine = run.started_by.user_id === user.id;
  if (readOnly || !may('workflows:run')) return null;
  return (
    <>
      {hasEnded(run) && !run.redacted && (
        <Link to="/workflows/$slug/start" params={{ slug: run.workflow.slug }} search={{ from: run.id } as never} className={buttonClass()}>
          <CirclePlay size={15} aria-hidden />
          {t('runs.start_again')}
        </Link>
      )}
      {!hasEnded(run) && (mine || may('settings:manage')) && (
        <Button onClick={() => setCancelling(true)}>{t('runs.cancel')}</Button>
      )}
      {cancelling && <Cancel run={run} onClose={() => setCancelling(false)} />}
    </>
  );
}

function Cancel({ run, onClose }: { run: Run; onClose: () => void }) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => cancelRun(run.id),
    onSuccess: (now) => {
      queries.setQueryData(runQuery(run.id).queryKey, now);
      toast(t('runs.cancelled'));
      onClose();
    },
    onSettled: () => void queries.invalidateQueries({ queryKey: ['runs'] }),
  });
  return (
    <Confirm
      title={t('runs.cancel_title')}
      body={t('runs.cancel_body')}
      action={t('runs.cancel')}
      busy={cancel.isPending}
      error={cancel.error}
      onConfirm={() => cancel.mutate()}
      onClose={onClose}
    />
  );
}

function Facts({ run }: { run: Run }) {
  const { t, dateTime, number } = useLanguage();
  const duration = useDuration();
  const starter = useStarter(run);
  const now = useNow(!hasEnded(run));
  const seconds = secondsOf({ started_at: run.created_at, finished_at: run.finished_at }, now) ?? 0;
  return (
    <Card className="mb-5 flex flex-wrap items-center gap-x-8 gap-y-3 p-4">
      <dl className="flex flex-wrap gap-x-8 gap-y-3">
        <Fact name={t('workflows.version')}>
          <Link
            to="/workflows/$slug"
            params={{ slug: run.workflow.slug }}
            className="inline-flex h-6 items-center text-link hover:underline"
          >
            <span data-raw>{run.workflow.slug} {number(run.workflow.version)}</span>
          </Link>
        </Fact>
        <Fact name={t('runs.started_by')}><span data-raw>{starter}</span></Fact>
        <Fact name={t('runs.began')}><time dateTime={run.created_at}>{dateTime(run.created_at)}</time></Fact>
        <Fact name={t('runs.took')}><span className="tnum">{duration(seconds)}</span></Fact>
        <Fact name={t('runs.steps_used')}>
          <span className="tnum">{t('runs.of_most', { n: number(run.steps_used), most: number(run.max_steps) })}</span>
        </Fact>
        {run.trigger_id && (
          <Fact name={t('runs.by')}>
            <Link to="/triggers/$id" params={{ id: run.trigger_id }} className="inline-flex h-6 items-center text-link hover:underline">
              {t('runs.the_trigger')}
            </Link>
          </Fact>
        )}
        {run.resumed_from && (
          <Fact name={t('runs.resumed')}>
            <Link
              to="/runs/$id"
              params={{ id: run.resumed_from.run_id }}
              className="inline-flex h-6 items-center text-link hover:underline"
            >
              {t('runs.resumed_at', { step: run.resumed_from.step })}
            </Link>
          </Fact>
        )}
      </dl>
    </Card>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return <div className="min-w-0"><dt className="text-sm text-muted">{name}</dt><dd className="font-medium">{children}</dd></div>;
}

const VIEWS = [['graph', Workflow], ['list', List]] as const;

function Views({ view, onView }: { view: string; onView: (view: string) => void }) {
  const { t } = useLanguage();
  return (
    <div className="flex items-center justify-between gap-3 border-b border-line px-4 py-2.5">
      <h2 className="font-semibold">{t('runs.steps')}</h2>
      <div role="group" aria-label={t('runs.view')} className="flex rounded-md bg-raised p-0.5">
        {VIEWS.map(([one, Icon]) => (
          <button
            key={one}
            type="button"
            aria-pressed={view === one}
            onClick={() => onView(one)}
            className={clsx(
              'flex h-7 items-center gap-1.5 rounded-sm px-2.5 text-sm font-medium',
              view === one ? 'bg-surface text-text shadow-card' : 'text-muted hover:text-text',
            )}
          >
            <Icon size={14} aria-hidden />
            {t(`runs.view_${one}`)}
          </button>
        ))}
      </div>
    </div>
  );
}

interface StepsProps {
  run: Run;
  steps: readonly SpecStep[];
  selected: string | null;
  onSelect: (name: string) => void;
}

/** One more word about each step: how far a map is, how long a step took. */
function useWords(run: Run): (step: Step) => string | null {
  const { t, number } = useLanguage();
  const duration = useDuration();
  const now = useNow(!hasEnded(run));
  return (step) => {
    if (step.counts?.total) return t('runs.short_progress', { n: number(step.counts.succeeded), all: number(step.counts.total) });
    const seconds = secondsOf(step, now);
    return seconds === null ? null : duration(seconds);
  };
}

function RunGraph({ run, steps, selected, onSelect }: StepsProps) {
  const language = useLanguage();
  const { t } = language;
  const words = useWords(run);
  const standingOf = (step: Step): Standing => ({
    state: step.state,
    look: lookOf(step),
    words: [stepWords(language, step), words(step)].filter(Boolean).join(' · '),
  });
  const standings = new Map(run.steps.map((step): [string, Standing] => [step.name, standingOf(step)]));
  const isReached = (name: string) => standings.has(name) && standings.get(name)!.state !== 'skipped';
  const isTaken = ({ from, to, branch }: Edge) => {
    if (!isReached(from) || !isReached(to)) return false;
    const { result } = (run.steps.find(({ name }) => name === from)?.output ?? {}) as { result?: unknown };
    return branch === 'next' || typeof result !== 'boolean' || result === (branch === 'then');
  };
  return <Graph label={t('runs.steps')} steps={steps} standings={standings} isTaken={isTaken} selected={selected} onSelect={onSelect} />;
}

/** The same as rows, for who would rather read. */
function StepList({ run, steps, selected, onSelect }: StepsProps) {
  const language = useLanguage();
  const { t, number } = language;
  const words = useWords(run);
  return (
    <ol>
      {steps.map((spec, at) => {
        const step = run.steps.find(({ name }) => name === spec.name);
        const about = step && [words(step), step.waiting ? null : waitWords(language, step)].filter(Boolean).join(' · ');
        return (
          <li key={spec.name} className="border-b border-line last:border-0">
            <button
              type="button"
              data-row
              aria-pressed={selected === spec.name}
              onClick={() => onSelect(spec.name)}
              className={clsx(
                'flex w-full flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2.5 text-start -outline-offset-2 hover:bg-raised/60',
                selected === spec.name && 'bg-accent-soft',
              )}
            >
              <span className="w-5 text-sm text-muted tnum">{number(at + 1)}</span>
              <span data-raw className="min-w-0 flex-1 basis-32 font-mono text-sm font-medium break-all">{spec.name}</span>
              {about && <span className="text-sm text-muted tnum">{about}</span>}
              {step ? <StepBadge step={step} /> : <Badge>{t('runs.not_yet')}</Badge>}
            </button>
          </li>
        );
      })}
    </ol>
  );
}

function Whole({ run }: { run: Run }) {
  const { t } = useLanguage();
  return (
    <div className="mt-5 grid gap-5 lg:grid-cols-2">
      <section className="min-w-0">
        <h2 className="mb-2 font-semibold">{t('runs.run_input')}</h2>
        <Json content={run.input} label={t('runs.run_input')} />
      </section>
      {run.output !== null && (
        <section className="min-w-0">
          <h2 className="mb-2 font-semibold">{t('runs.run_output')}</h2>
          <Json content={run.output} label={t('runs.run_output')} />
        </section>
      )}
    </div>
  );
}
