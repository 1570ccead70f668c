/** The company as its own people run it: what it is, what it may use, its teams. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import { Globe, Plus, Users } from 'lucide-react';
import type { ReactNode } from 'react';
import { companyQuery } from '@/api/companies';
import { api, value, type Schemas } from '@/api/client';
import { PAGE } from '@/api/queries';
import { useLanguage } from '@/i18n/language';
import { Page } from '@/app/Page';
import { useMay, useReadOnly } from '@/app/session';
import { Badge, Card, SkeletonRows } from '@/ui/bits';
import { Button, buttonClass } from '@/ui/Button';
import { dimensionKey, Meter } from '@/ui/Meter';
import { Problem } from '@/ui/Problem';

type Company = Schemas['CompanyPage'];

export default function CompanyPage() {
  const { t } = useLanguage();
  const may = useMay();
  const readOnly = useReadOnly();
  const company = useQuery(companyQuery);
  return (
    <Page
      title={t('nav.company')}
      description={t('company.lead')}
      actions={
        may('org:manage') &&
        !readOnly && (
          <Link to="/settings/company/teams/new" className={buttonClass('primary')}>
            <Plus size={16} aria-hidden />
            {t('nav.new_team')}
          </Link>
        )
      }
    >
      {company.isPending && <Card><SkeletonRows rows={5} label={t('app.loading')} /></Card>}
      {company.error && <Problem error={company.error} onRetry={() => void company.refetch()} />}
      {company.data && (
        <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_20rem]">
          <div className="grid min-w-0 gap-5"><Facts company={company.data} /><Limits company={company.data} /></div>
          <Teams />
        </div>
      )}
      <Outlet />
    </Page>
  );
}

function Facts({ company }: { company: Company }) {
  const { t, find, date } = useLanguage();
  return (
    <Card className="p-5">
      <div className="flex flex-wrap items-center gap-2.5">
        <h2 data-raw className="text-xl font-semibold">{company.name}</h2>
        {company.suspended ? <Badge tone="danger">{t('company.suspended')}</Badge> : <Badge tone="success">{t('company.active')}</Badge>}
      </div>
      <dl className="mt-4 grid gap-4 sm:grid-cols-3">
        <Fact name={t('company.plan')}>{find(`company.plan_${company.plan}`) ?? <span data-raw>{company.plan}</span>}</Fact>
        <Fact name={t('company.hostname')}>
          {company.domain ? (
            <span className="flex min-w-0 items-center gap-1.5">
              <Globe size={14} className="shrink-0 text-muted" aria-hidden />
              <span data-raw className="truncate">{company.domain}</span>
            </span>
          ) : (
            <span className="font-normal text-muted">{t('company.no_hostname')}</span>
          )}
          {company.domain && !company.domain_verified && (
            <span className="mt-1 block">
              <Badge tone="warning">{t('company.hostname_waits')}</Badge>
            </span>
          )}
        </Fact>
        <Fact name={t('company.since')}>{date(company.created_at)}</Fact>
      </dl>
    </Card>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return <div className="min-w-0"><dt className="text-sm text-muted">{name}</dt><dd className="mt-0.5 font-medium">{children}</dd></div>;
}

function Limits({ company }: { company: Company }) {
  const { t } = useLanguage();
  return (
    <Card>
      <div className="border-b border-line px-5 py-3.5">
        <h2 className="text-lg font-semibold">{t('company.limits')}</h2>
        <p className="text-sm text-muted">{t('company.limits_lead')}</p>
      </div>
      <ul>
        {company.usage.map((line) => (
          <li
            key={line.dimension + line.window}
            className="grid gap-x-8 gap-y-2 border-b border-line px-5 py-4 last:border-0 sm:grid-cols-[11rem_minmax(0,1fr)]"
          >
            <h3 className="font-medium">{t(dimensionKey(line.dimension))}</h3>
            <Meter line={line} label={t(dimensionKey(line.dimension))} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Teams() {
  const { t, date } = useLanguage();
  const teams = useInfiniteQuery({
    queryKey: ['company', 'teams'],
    queryFn: ({ pageParam }) =>
      value(api.GET('/api/org/teams', { params: { query: { limit: PAGE, ...(pageParam ? { cursor: pageParam } : {}) } } })),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
  const found = teams.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Card>
      <h2 className="flex items-center gap-2 px-5 pt-4 pb-2 text-lg font-semibold">
        <Users size={16} className="text-muted" aria-hidden />
        {t('company.teams')}
      </h2>
      {teams.isPending && <SkeletonRows rows={3} label={t('app.loading')} />}
      <Problem error={teams.error} onRetry={() => void teams.refetch()} />
      <ul className="px-5 pb-4">
        {found.map((team) => (
          <li key={team.id} className="flex items-baseline justify-between gap-3 py-1.5">
            <span data-raw className="min-w-0 truncate font-medium">{team.name}</span>
            <span className="shrink-0 text-sm text-muted tnum">{date(team.created_at)}</span>
          </li>
        ))}
      </ul>
      {teams.hasNextPage && (
        <Button className="m-3" busy={teams.isFetchingNextPage} onClick={() => void teams.fetchNextPage()}>
          {t('ui.more')}
        </Button>
      )}
    </Card>
  );
}
