/** A spec as text, with what is wrong beside it and its graph drawn as far as it goes. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { ArrowLeft, CircleAlert, CircleCheckBig, LoaderCircle } from 'lucide-react';
import { useMemo, useState } from 'react';
import { isRefusal } from '@/api/refusal';
import { useLanguage } from '@/i18n/language';
import { lazyPart } from '@/app/lazily';
import { lazyDialog } from '@/app/lazy-dialog';
import { Page } from '@/app/Page';
import { useIdentity, useReadOnly } from '@/app/session';
import { Card, Code } from '@/ui/bits';
import { Button } from '@/ui/Button';
import type { Aim } from '@/ui/JsonEditor';
import { Problem } from '@/ui/Problem';
import { Warning } from '@/ui/SecretDialog';
import { toast } from '@/ui/toast';
import { dropDraft, keepDraft, readDraft } from './drafts';
import { written } from './examples';
import { Graph } from './Graph';
import { stepsIn } from './layout';
import { useVerdict, type SpecProblem, type Verdict } from './problems';
import { publish, workflowNamesQuery, workflowQuery } from './server';

const JsonEditor = lazyPart(() => import('@/ui/JsonEditor'));
const Comparison = lazyDialog(() => import('@/app/versions/Comparison'));

interface Props {
  text: string;
  /** The version it is written on top of; null for a workflow that does not exist yet. */
  over: number | null;
  slug?: string;
  title?: string;
  /** This very text is wanted, not one that was begun before. */
  fresh?: boolean;
}

/** The slug a document claims. */
const slugIn = (spec: unknown): string => {
  const { slug } = (typeof spec === 'object' && spec !== null ? spec : {}) as { slug?: unknown };
  return typeof slug === 'string' ? slug : '';
};

export function SpecEditor({ text: first, over: firstOver, slug = '', title, fresh = false }: Props) {
  const { t } = useLanguage();
  const { user } = useIdentity();
  const [kept] = useState(() => (fresh ? null : readDraft(user.id, slug)));
  const [text, setText] = useState(kept?.text ?? first);
  const [generation, setGeneration] = useState(0);
  const [restored, setRestored] = useState(kept !== null && kept.text !== first);
  const [over, setOver] = useState(kept ? kept.over : firstOver);
  const [aim, setAim] = useState<Aim | null>(null);
  const verdict = useVerdict(text);
  const steps = useMemo(() => stepsIn(verdict.spec), [verdict.spec]);
  const [selected, setSelected] = useState<string | null>(null);
  const edit = (next: string) => {
    setText(next);
    keepDraft(user.id, slug, { text: next, over });
  };
  const discard = () => {
    dropDraft(user.id, slug);
    setText(first);
    setOver(firstOver);
    setRestored(false);
    setGeneration(generation + 1);
  };
  const select = (name: string) => {
    setSelected(name);
    const { steps: all } = verdict.spec as { steps: { name?: unknown }[] };
    setAim({ line: verdict.lineOf(`/steps/${all.findIndex((one) => one?.name === name)}`) });
  };
  return (
    <Page
      title={title ?? t('nav.new_workflow')}
      raw={title !== undefined}
      description={t('workflows.edit_lead')}
      actions={<Publish slug={slug} over={over} verdict={verdict} onOver={setOver} />}
    >
      <Back slug={slug} />
      {restored && (
        <div className="mb-4 flex flex-wrap items-center gap-3 rounded-lg bg-info-soft px-3 py-2 text-info" role="status">
          <span className="min-w-0 flex-1 basis-52">{t('workflows.draft_back')}</span>
          <Button size="small" onClick={discard}>{t('workflows.draft_discard')}</Button>
        </div>
      )}
      <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_minmax(0,24rem)]">
        <Card className="h-[32rem] min-w-0 overflow-hidden lg:h-[calc(100dvh-13rem)]">
          <JsonEditor
            key={generation}
            value={text}
            onChange={edit}
            label={t('workflows.spec')}
            problems={verdict.problems.map(({ line }) => line)}
            aim={aim}
          />
        </Card>
        <div className="grid min-w-0 gap-5">
          <Problems verdict={verdict} onAim={(line) => setAim({ line })} />
          {steps.length > 0 && (
            <Card className="max-h-[36rem] min-w-0 overflow-auto">
              <Graph label={t('workflows.graph')} steps={steps} selected={selected} onSelect={select} />
            </Card>
          )}
        </div>
      </div>
    </Page>
  );
}

function Back({ slug }: { slug: string }) {
  const { t } = useLanguage();
  return (
    <Link
      {...(slug ? { to: '/workflows/$slug', params: { slug } } : { to: '/workflows' })}
      className="mb-4 -mt-3 inline-flex h-7 items-center gap-1.5 text-sm text-muted hover:text-text"
    >
      <ArrowLeft size={14} aria-hidden />
      {slug ? <span data-raw>{slug}</span> : t('nav.workflows')}
    </Link>
  );
}

function Problems({ verdict, onAim }: { verdict: Verdict; onAim: (line: number) => void }) {
  const { t, number } = useLanguage();
  const { problems, judging, longest, refusal } = verdict;
  if (refusal) return <Problem error={refusal} />;
  const [Icon, look] = judging
    ? ([LoaderCircle, 'animate-spin text-muted'] as const)
    : problems.length
      ? ([CircleAlert, 'text-danger'] as const)
      : ([CircleCheckBig, 'text-success'] as const);
  return (
    <Card className="min-w-0">
      <p role="status" data-testid="verdict" data-judging={judging || undefined} className="flex items-center gap-2 px-4 py-3 font-medium">
        <Icon size={16} aria-hidden className={`shrink-0 ${look}`} />
        {judging
          ? t('workflows.judging')
          : problems.length
            ? t('workflows.problems', { n: problems.length })
            : t('workflows.valid', { n: number(longest ?? 0) })}
      </p>
      {problems.length > 0 && (
        <ul className="max-h-80 overflow-y-auto border-t border-line">
          {problems.map((one, at) => <ProblemRow key={at} problem={one} onAim={() => onAim(one.line)} />)}
        </ul>
      )}
    </Card>
  );
}

function ProblemRow({ problem, onAim }: { problem: SpecProblem; onAim: () => void }) {
  const { t, find, number } = useLanguage();
  return (
    <li className="border-b border-line last:border-0">
      <button
        type="button"
        data-testid="problem"
        onClick={onAim}
        className="grid w-full gap-0.5 px-4 py-2.5 text-start -outline-offset-2 hover:bg-raised"
      >
        <span className="text-sm text-muted">
          {t('workflows.line', { n: number(problem.line) })} {problem.path && <Code>{problem.path}</Code>}
        </span>
        <span>{find(`workflows.problem_${problem.code}`) ?? t('workflows.problem_shape')}</span>
        {problem.message && <span data-raw className="text-sm wrap-anywhere text-muted">{problem.message}</span>}
      </button>
    </li>
  );
}

interface PublishProps {
  slug: string;
  over: number | null;
  verdict: Verdict;
  onOver: (version: number) => void;
}

function Publish({ slug, over, verdict, onOver }: PublishProps) {
  const { t } = useLanguage();
  const { user } = useIdentity();
  const readOnly = useReadOnly();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const names = useQuery(workflowNamesQuery);
  const named = slugIn(verdict.spec);
  const taken = named !== slug ? names.data?.find((one) => one.slug === named) : undefined;
  const put = useMutation({
    mutationFn: () => publish(verdict.spec, named === slug ? over : null),
    onSuccess: async (done) => {
      dropDraft(user.id, slug);
      toast(t('workflows.published', { version: done.version }));
      await queries.invalidateQueries({ queryKey: ['workflows'] });
      await navigate({ to: '/workflows/$slug', params: { slug: done.slug } });
    },
  });
  const stale = isRefusal(put.error) && put.error.status === 412;
  return (
    <>
      <Button
        kind="primary"
        busy={put.isPending}
        disabled={readOnly || verdict.judging || verdict.problems.length > 0 || verdict.spec === undefined}
        onClick={() => put.mutate()}
      >
        {t('workflows.publish')}
      </Button>
      {taken && <div className="w-full"><Warning>{t('workflows.slug_taken', { slug: named, version: taken.version + 1 })}</Warning></div>}
      {put.error && !stale && <div className="w-full"><Problem error={put.error} /></div>}
      {stale && over !== null && (
        <Overtaken
          slug={slug}
          over={over}
          onOver={(version) => {
            onOver(version);
            put.reset();
          }}
        />
      )}
    </>
  );
}

/** Another version was published meanwhile: it can be looked at, and gone on from. */
function Overtaken({ slug, over, onOver }: { slug: string; over: number; onOver: (version: number) => void }) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const newest = useQuery({ ...workflowQuery(slug), refetchOnMount: 'always' });
  const [pair, setPair] = useState<[number, number] | null>(null);
  const version = newest.data?.version;
  if (version === undefined || version === over) return null;
  const versions = newest.data!.versions.map((one) => ({
    number: one.version,
    size: 0,
    created_at: one.created_at,
    created_by: one.created_by ?? '',
  }));
  const read = async (number: number) => {
    const { spec } = await queries.fetchQuery(workflowQuery(slug, number));
    return written(spec);
  };
  return (
    <div role="alert" className="grid w-full gap-2 rounded-lg bg-warning-soft px-3 py-2.5 text-warning">
      <p>{t('workflows.overtaken', { version })}</p>
      <p className="flex flex-wrap gap-2">
        <Button size="small" onClick={() => setPair([over, version])}>{t('workflows.see_difference')}</Button>
        <Button size="small" onClick={() => onOver(version)}>{t('workflows.go_on_from', { version })}</Button>
      </p>
      {pair && (
        <Comparison
          texts={{ key: ['workflows', 'text', slug], read }}
          versions={versions}
          pair={pair}
          onPair={setPair}
          onClose={() => setPair(null)}
        />
      )}
    </div>
  );
}
