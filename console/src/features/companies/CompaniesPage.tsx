import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useSearch } from '@tanstack/react-router';
import { Building, Plus, Search } from 'lucide-react';
import { useDeferredValue, useEffect, useRef, useState } from 'react';
import type { Schemas } from '@/api/client';
import { useLanguage } from '@/app/language';
import { Page } from '@/app/Page';
import { Badge, Card, SkeletonRows } from '@/ui/bits';
import { Button, buttonClass } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { Problem } from '@/ui/Problem';
import { useRowKeys } from '@/ui/rows';
import { companiesQuery } from './companies';
import { State } from './State';

type Company = Schemas['Company'];

export default function CompaniesPage() {
  const { t } = useLanguage();
  const [typed, setTyped] = useSearched();
  const q = useDeferredValue(typed.trim());
  const companies = useInfiniteQuery({ ...companiesQuery(q), placeholderData: keepPreviousData });
  const list = useRef<HTMLDivElement>(null);
  useRowKeys(list);
  const found = companies.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Page title={t('companies.title')} description={t('companies.lead')} actions={<Link to="/instance/companies/new" className={buttonClass('primary')}><Plus size={16} aria-hidden />{t('companies.new')}</Link>}>
      <Card className="overflow-hidden">
        <label className="flex items-center gap-2.5 border-b border-line px-4"><Search size={16} className="shrink-0 text-muted" aria-hidden /><span className="sr-only">{t('companies.search')}</span><input type="search" value={typed} onChange={(event) => setTyped(event.target.value)} placeholder={t('companies.search')} className="h-11 w-full bg-transparent outline-none" /></label>
        {companies.isPending && <SkeletonRows label={t('app.loading')} />}
        {companies.error && <div className="p-4"><Problem error={companies.error} action={<Button size="small" onClick={() => void companies.refetch()}>{t('ui.retry')}</Button>} /></div>}
        {companies.data && found.length === 0 && <Empty icon={Building} title={t('companies.none_title')} body={q ? t('companies.none_found', { q }) : t('companies.none_body')} />}
        {found.length > 0 && <div ref={list}><Table companies={found} /></div>}
      </Card>
      {companies.hasNextPage && <Button className="mt-5 w-full" busy={companies.isFetchingNextPage} onClick={() => void companies.fetchNextPage()}>{t('ui.more')}</Button>}
      <Outlet />
    </Page>
  );
}

/** What is searched for is part of the address, so that it can be passed on. */
function useSearched(): [string, (typed: string) => void] {
  const search = useSearch({ strict: false }) as { q?: string | number };
  const navigate = useNavigate();
  const [typed, setTyped] = useState(String(search.q ?? ''));
  const first = useRef(true);
  useEffect(() => {
    if (first.current) {
      first.current = false;
      return;
    }
    void navigate({ to: '/instance/companies', search: (typed ? { q: typed } : {}) as never, replace: true });
  }, [typed, navigate]);
  return [typed, setTyped];
}

function Table({ companies }: { companies: Company[] }) {
  const { t } = useLanguage();
  return (
    <table className="w-full text-start">
      <thead>
        <tr className="border-b border-line text-sm text-muted">
          <th scope="col" className="px-4 py-2.5 text-start font-medium">{t('companies.company')}</th>
          <th scope="col" className="px-4 py-2.5 text-start font-medium max-sm:hidden">{t('company.plan')}</th>
          <th scope="col" className="px-4 py-2.5 text-start font-medium max-md:hidden">{t('company.hostname')}</th>
          <th scope="col" className="px-4 py-2.5 text-end font-medium">{t('companies.state')}</th>
        </tr>
      </thead>
      <tbody>{companies.map((company) => <Row key={company.id} company={company} />)}</tbody>
    </table>
  );
}

function Row({ company }: { company: Company }) {
  const { t, find } = useLanguage();
  return (
    <tr className="relative border-b border-line last:border-0 hover:bg-raised/60">
      <td className="max-w-0 px-4 py-2.5 max-sm:w-full sm:w-2/5">
        <Link data-row to="/instance/companies/$ref" params={{ ref: company.slug }} className="block min-w-0 -outline-offset-2 after:absolute after:inset-0"><span data-raw className="block truncate font-medium">{company.name}</span><span data-raw className="block truncate text-sm text-muted">{company.slug}</span></Link>
      </td>
      <td className="px-4 py-2.5 max-sm:hidden">{find(`company.plan_${company.plan}`) ?? <span data-raw>{company.plan}</span>}</td>
      <td className="max-w-0 px-4 py-2.5 max-md:hidden md:w-2/5"><div className="flex items-center gap-2"><span data-raw className="min-w-0 truncate">{company.domain ?? '–'}</span>{company.domain && !company.domain_verified && <Badge tone="warning">{t('companies.waits')}</Badge>}</div></td>
      <td className="px-4 py-2.5 text-end"><State suspended={company.suspended} /></td>
    </tr>
  );
}
