/** One workflow: its graph, its versions and its latest runs. */
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useParams } from '@tanstack/react-router';
import { ArrowLeft, CirclePlay, PenLine } from 'lucide-react';
import { useMemo, useState } from 'react';
import { membersQuery } from '@/api/queries';
import { useLanguage } from '@/i18n/language';
import { lazyDialog } from '@/app/lazy-dialog';
import { Page } from '@/app/Page';
import { useMay, useReadOnly } from '@/app/session';
import { Badge, Card, Code } from '@/ui/bits';
import { Button, buttonClass } from '@/ui/Button';
import { ListBody } from '@/ui/ListPage';
import { CopyButton } from '@/ui/Secret';
import { written } from './examples';
import { Graph } from './Graph';
import { stepsIn } from './layout';
import { RunRow } from './RunRow';
import { runsQuery, workflowQuery } from './server';
import type { Definition } from './shapes';
import { sourceWords } from './words';
import { Absent } from './Absent';

const Comparison = lazyDialog(() => import('@/app/versions/Comparison'));
const LATEST = 5;

export default function WorkflowPage() {
  const { slug = '' } = useParams({ strict: false });
  const found = useQuery(workflowQuery(slug));
  if (!found.data) return <Absent of="workflows" error={found.error} onRetry={() => void found.refetch()} />;
  return <Found key={slug} workflow={found.data} />;
}

function Found({ workflow }: { workflow: Definition }) {
  const language = useLanguage();
  const { t, number } = language;
  const { slug, title, description, source, version, upstream } = workflow;
  return (
    <Page title={title || slug} raw actions={<Actions slug={slug} />}>
      <Link to="/workflows" className="mb-4 -mt-3 inline-flex h-7 items-center gap-1.5 text-sm text-muted hover:text-text">
        <ArrowLeft size={14} aria-hidden />
        {t('nav.workflows')}
      </Link>
      <div className="mb-5 grid gap-2">
        {description && <p data-raw className="max-w-2xl wrap-anywhere text-muted">{description}</p>}
        <p className="flex flex-wrap items-center gap-2">
          <Code>{slug}</Code>
          <Badge>{t('versions.version', { n: number(version) })}</Badge>
          <Badge tone={source === 'team' ? 'accent' : 'neutral'}>{sourceWords(language, source)}</Badge>
        </p>
        {upstream && <p className="text-sm text-muted">{t('workflows.upstream', { version: number(upstream.version) })}</p>}
      </div>
      <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <Steps workflow={workflow} />
        <div className="grid min-w-0 gap-5">
          <Inputs workflow={workflow} />
          <Latest slug={slug} />
          <Versions workflow={workflow} />
        </div>
      </div>
      <Outlet />
    </Page>
  );
}

function Actions({ slug }: { slug: string }) {
  const { t } = useLanguage();
  const may = useMay();
  const readOnly = useReadOnly();
  if (readOnly) return null;
  return (
    <>
      {may('workflows:write') && (
        <Link to="/workflows/$slug/edit" params={{ slug }} className={buttonClass()}>
          <PenLine size={15} aria-hidden />
          {t('workflows.edit')}
        </Link>
      )}
      {may('workflows:run') && (
        <Link to="/workflows/$slug/start" params={{ slug }} className={buttonClass('primary')}>
          <CirclePlay size={15} aria-hidden />
          {t('workflows.start')}
        </Link>
      )}
    </>
  );
}

/** The graph, and the step that is looked at as it was written. */
function Steps({ workflow: { spec } }: { workflow: Definition }) {
  const { t } = useLanguage();
  const steps = useMemo(() => stepsIn(spec), [spec]);
  const [selected, setSelected] = useState<string | null>(null);
  const chosen = spec.steps.find(({ name }) => name === selected);
  const text = written(chosen ?? spec);
  return (
    <Card className="min-w-0 overflow-hidden">
      <Graph label={t('workflows.graph')} steps={steps} selected={selected} onSelect={setSelected} />
      <section aria-label={t('workflows.spec')} className="border-t border-line">
        <div className="flex flex-wrap items-center justify-between gap-3 px-4 pt-3">
          <h2 className="font-semibold">{chosen ? <span data-raw className="font-mono">{chosen.name}</span> : t('workflows.spec')}</h2>
          <div className="flex gap-2">
            {chosen && <Button size="small" onClick={() => setSelected(null)}>{t('workflows.whole_spec')}</Button>}
            <CopyButton text={text} />
          </div>
        </div>
        <pre data-raw tabIndex={0} className="max-h-96 overflow-auto p-4 font-mono text-xs -outline-offset-2">{text}</pre>
      </section>
    </Card>
  );
}

function Inputs({ workflow: { inputs } }: { workflow: Definition }) {
  const { t } = useLanguage();
  const declared = Object.entries(inputs);
  return (
    <Card className="p-4">
      <h2 className="mb-2 font-semibold">{t('workflows.inputs')}</h2>
      {declared.length === 0 && <p className="text-sm text-muted">{t('workflows.no_inputs')}</p>}
      <dl className="grid gap-2.5">
        {declared.map(([name, { type, optional, description }]) => (
          <div key={name}>
            <dt className="flex flex-wrap items-center gap-1.5">
              <span data-raw className="font-mono text-sm font-medium">{name}</span>
              <Badge>{t(`workflows.type_${type}`)}</Badge>
              {optional && <span className="text-xs text-muted">{t('ui.optional')}</span>}
            </dt>
            {description && <dd data-raw className="mt-0.5 text-sm wrap-anywhere text-muted">{description}</dd>}
          </div>
        ))}
      </dl>
    </Card>
  );
}

function Latest({ slug }: { slug: string }) {
  const { t } = useLanguage();
  const runs = useInfiniteQuery(runsQuery({ workflow: slug }));
  const items = runs.data?.pages[0]?.items.slice(0, LATEST);
  const none = items?.length === 0 && <p className="px-4 pb-4 text-sm text-muted">{t('workflows.never_ran')}</p>;
  return (
    <Card className="overflow-hidden">
      <div className="flex items-center justify-between gap-3 px-4 py-3">
        <h2 className="font-semibold">{t('workflows.latest')}</h2>
        <Link to="/runs" search={{ workflow: slug } as never} className="inline-flex h-6 items-center text-sm text-link hover:underline">
          {t('workflows.all_runs')}
        </Link>
      </div>
      <ListBody query={{ ...runs, hasNextPage: false }} rows={2} empty={none}>
        <ul>{items?.map((run) => <RunRow key={run.id} run={run} brief />)}</ul>
      </ListBody>
    </Card>
  );
}

function Versions({ workflow }: { workflow: Definition }) {
  const { t, number, ago } = useLanguage();
  const queries = useQueryClient();
  const members = useQuery(membersQuery);
  const may = useMay();
  const readOnly = useReadOnly();
  const [pair, setPair] = useState<[number, number] | null>(null);
  const { slug, version: newest, versions } = workflow;
  const read = async (version: number) => written((await queries.fetchQuery(workflowQuery(slug, version))).spec);
  const past = versions.map((one) => ({ number: one.version, size: 0, created_at: one.created_at, created_by: one.created_by ?? '' }));
  return (
    <Card className="overflow-hidden">
      <h2 className="px-4 py-3 font-semibold">{t('workflows.versions')}</h2>
      <ol className="max-h-80 overflow-y-auto" tabIndex={0} aria-label={t('workflows.versions')}>
        {versions.map((one) => (
          <li key={one.version} data-testid="version" className="flex flex-wrap items-center gap-2 border-t border-line px-4 py-2">
            <div className="min-w-0 flex-1 basis-32">
              <p className="flex items-center gap-2 font-medium">
                {t('versions.version', { n: number(one.version) })}
                {one.version === newest && <Badge tone="success">{t('versions.current')}</Badge>}
              </p>
              <p className="text-sm text-muted">
                <time dateTime={one.created_at}>{ago(one.created_at)}</time>
                {one.created_by && <span data-raw> · {members.data?.find(({ id }) => id === one.created_by)?.display_name ?? '–'}</span>}
              </p>
            </div>
            {one.version !== newest && (
              <>
                <Button
                  size="small"
                  aria-label={t('versions.compare_version', { n: number(one.version) })}
                  onClick={() => setPair([one.version, newest])}
                >
                  {t('versions.compare')}
                </Button>
                {may('workflows:write') && !readOnly && (
                  <Link
                    to="/workflows/$slug/edit"
                    params={{ slug }}
                    search={{ version: one.version } as never}
                    aria-label={t('workflows.edit_version', { n: number(one.version) })}
                    className={buttonClass('default', 'small')}
                  >
                    <PenLine size={14} aria-hidden />
                    {t('workflows.edit')}
                  </Link>
                )}
              </>
            )}
          </li>
        ))}
      </ol>
      {pair && (
        <Comparison
          texts={{ key: ['workflows', 'text', slug], read }}
          versions={past}
          pair={pair}
          onPair={setPair}
          onClose={() => setPair(null)}
        />
      )}
    </Card>
  );
}
