/** What the team and its company have used, side by side. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Activity, Building2, HardDrive, MessageSquareText, RefreshCw, Sparkles, Users, Workflow, type LucideIcon } from 'lucide-react';
import { api, value } from '@/api/client';
import { DIMENSIONS, usageQuery, type Dimension, type Usage } from '@/api/companies';
import { useLanguage } from '@/i18n/language';
import { Page } from '@/app/Page';
import { LimitForm, type LimitChange } from '@/app/LimitForm';
import { LimitOrigin } from '@/app/LimitOrigin';
import { useIdentity } from '@/app/session';
import { Card, SkeletonRows } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { dimensionKey, Meter } from '@/ui/Meter';
import { fullnessOf } from '@/ui/meter';
import { Problem } from '@/ui/Problem';
import { toast } from '@/ui/toast';
import { Storage } from './Storage';
import { TeamLimit } from './TeamLimit';

const ICONS: Record<Dimension, LucideIcon> = {
  'ai.requests': MessageSquareText,
  'ai.tokens.total': Sparkles,
  'ai.concurrency': Activity,
  'storage.bytes': HardDrive,
  'jobs.concurrency': Workflow,
};

export default function UsagePage() {
  const { t } = useLanguage();
  const usage = useQuery({ ...usageQuery, refetchInterval: 30_000 });
  const refresh = () => void usage.refetch();
  return (
    <Page
      title={t('nav.usage')}
      description={t('usage.lead')}
      actions={
        <Button busy={usage.isFetching} onClick={refresh}>
          {!usage.isFetching && <RefreshCw size={14} aria-hidden />}
          {t('ui.refresh')}
        </Button>
      }
    >
      {usage.isPending && <Card><SkeletonRows rows={5} label={t('app.loading')} /></Card>}
      {usage.error && <Problem error={usage.error} onRetry={refresh} />}
      {usage.data && <Summary lines={usage.data} />}
      {usage.data && <Table lines={usage.data} />}
      {usage.data && (usage.data.some((line) => line.may_change) ? <TeamLimits /> : <Whom lines={usage.data} />)}
    </Page>
  );
}

/** Operators set how much of what the company may use this team may. */
function TeamLimits() {
  const { t } = useLanguage();
  const { team, org } = useIdentity();
  const queries = useQueryClient();
  const set = useMutation({
    mutationFn: (body: LimitChange) => value(api.POST('/api/quota', { body })),
    onSuccess: () => {
      void queries.invalidateQueries(usageQuery);
      toast(t('companies.limit_set'));
    },
  });
  return (
    <Card className="mt-5 p-5">
      <h2 className="mb-4 text-lg font-semibold">{t('usage.team_limits', { team: team.name })}</h2>
      <LimitForm busy={set.isPending} error={set.error} onLimit={set.mutate} />
      <p className="mt-4">
        <Link to="/settings/instance/companies/$ref" params={{ ref: org.slug }} className="text-link hover:underline">
          {t('usage.at_companies')}
        </Link>
      </p>
    </Card>
  );
}

/** Who cannot change limits is told who can. */
function Whom({ lines }: { lines: Usage[] }) {
  const { t } = useLanguage();
  return lines.some((line) => line.limit !== null) ? <p className="mt-4 text-muted">{t('usage.whom')}</p> : null;
}

/** One sentence, so that nobody has to read the table to know whether all is well. */
function Summary({ lines }: { lines: Usage[] }) {
  const { t } = useLanguage();
  const full = lines.filter((line) => fullnessOf(line) === 'full').length;
  const near = lines.filter((line) => fullnessOf(line) === 'near').length;
  const [key, look] = full
    ? (['usage.some_full', 'text-danger'] as const)
    : near
      ? (['usage.some_near', 'text-warning'] as const)
      : (['usage.all_well', 'text-muted'] as const);
  return <p className={`mb-4 ${look}`}>{t(key, { n: full || near })}</p>;
}

function Table({ lines }: { lines: Usage[] }) {
  const { t } = useLanguage();
  const { team, org } = useIdentity();
  return (
    <Card>
      <div
        aria-hidden
        className="grid grid-cols-[15rem_1fr_1fr] gap-8 border-b border-line px-5 py-3 text-sm font-medium text-muted max-lg:hidden"
      >
        <span />
        <span className="flex items-center gap-2">
          <Users size={15} />
          {t('usage.of_team')}
          <span data-raw className="truncate text-text">{team.name}</span>
        </span>
        <span className="flex items-center gap-2">
          <Building2 size={15} />
          {t('usage.of_company')}
          <span data-raw className="truncate text-text">{org.name}</span>
        </span>
      </div>
      {DIMENSIONS.map((dimension) => (
        <Row key={dimension} dimension={dimension} lines={lines.filter((line) => line.dimension === dimension)} />
      ))}
    </Card>
  );
}

function Row({ dimension, lines }: { dimension: Dimension; lines: Usage[] }) {
  const { t } = useLanguage();
  const Icon = ICONS[dimension];
  const name = t(dimensionKey(dimension));
  return (
    <section
      aria-label={name}
      className="grid gap-x-8 gap-y-4 border-b border-line px-5 py-5 last:border-0 sm:grid-cols-2 lg:grid-cols-[15rem_1fr_1fr]"
    >
      <div className="flex items-start gap-3 sm:max-lg:col-span-2">
        <span className="grid size-9 shrink-0 place-items-center rounded-lg bg-raised text-muted">
          <Icon size={17} aria-hidden />
        </span>
        <div>
          <h2 className="font-medium">{name}</h2>
          <p className="text-sm text-muted">{t(`usage.${dimension.replaceAll('.', '_') as 'ai_requests'}_more`)}</p>
        </div>
      </div>
      {(['team', 'org'] as const).map((level) => (
        <div key={level} className="grid content-start gap-4">
          <h3 className="-mb-3 text-xs font-medium text-muted lg:sr-only">{t(level === 'team' ? 'usage.of_team' : 'usage.of_company')}</h3>
          {lines
            .filter((line) => line.level === level)
            .map((line) => (
              <div key={line.window} className="grid gap-3">
                <Meter line={line} label={`${name}, ${t(level === 'team' ? 'usage.of_team' : 'usage.of_company')}`} />
                <LimitOrigin line={line} />
                <Storage line={line} />
                {level === 'team' && line.may_change && line.limit !== null && <TeamLimit line={line} />}
              </div>
            ))}
        </div>
      ))}
    </section>
  );
}
