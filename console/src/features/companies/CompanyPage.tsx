/** One company, as the operator runs it. */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { ArrowLeft } from 'lucide-react';
import type { ReactNode } from 'react';
import { useLanguage } from '@/i18n/language';
import { Page } from '@/app/Page';
import { Card, SkeletonRows } from '@/ui/bits';
import { Problem } from '@/ui/Problem';
import { companyQueryOf, type Company } from './companies';
import { Hostname } from './Hostname';
import { Limits } from './Limits';
import { NameAndPlan } from './NameAndPlan';
import { State } from './State';
import { Suspension } from './Suspension';

export default function CompanyPage() {
  const { t } = useLanguage();
  const { ref } = useParams({ strict: false }) as { ref: string };
  const company = useQuery(companyQueryOf(ref));
  return (
    <Page
      title={company.data?.name ?? t('companies.company')}
      raw={company.data !== undefined}
      actions={company.data && <State suspended={company.data.suspended} />}
    >
      <Link
        to="/settings/instance/companies"
        className="-mt-3 mb-5 inline-flex h-7 items-center gap-1.5 text-sm font-medium text-link hover:underline"
      >
        <ArrowLeft size={14} aria-hidden className="rtl:rotate-180" />
        {t('companies.all')}
      </Link>
      {company.isPending && <Card><SkeletonRows rows={5} label={t('app.loading')} /></Card>}
      {company.error && <Problem error={company.error} onRetry={() => void company.refetch()} />}
      {company.data && <Panels company={company.data} />}
    </Page>
  );
}

function Panels({ company }: { company: Company }) {
  const { t, dateTime } = useLanguage();
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_20rem]">
      <div className="grid min-w-0 gap-5">
        <Limits company={company} />
        <Hostname key={company.domain} company={company} />
        <Suspension company={company} />
      </div>
      <div className="grid gap-5">
        <NameAndPlan key={company.name + company.plan} company={company} />
        <Panel title={t('company.teams')}>
          <ul className="grid gap-1.5">
            {company.teams.map((team) => <li key={team.id} data-raw className="truncate">{team.name}</li>)}
          </ul>
        </Panel>
        <Panel title={t('companies.facts')}>
          <dl className="grid gap-3">
            <div>
              <dt className="text-sm text-muted">{t('companies.slug')}</dt>
              <dd data-raw className="font-mono text-sm break-all">{company.slug}</dd>
            </div>
            <div>
              <dt className="text-sm text-muted">{t('companies.id')}</dt>
              <dd data-raw className="font-mono text-xs break-all">{company.id}</dd>
            </div>
            <div>
              <dt className="text-sm text-muted">{t('company.since')}</dt>
              <dd>{dateTime(company.created_at)}</dd>
            </div>
          </dl>
        </Panel>
      </div>
    </div>
  );
}

function Panel({ title, children }: { title: string; children: ReactNode }) {
  return <Card className="p-5"><h2 className="mb-3 text-lg font-semibold">{title}</h2>{children}</Card>;
}
