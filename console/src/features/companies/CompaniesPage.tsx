import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useSearch } from '@tanstack/react-router';
import { Building, Plus, Search } from 'lucide-react';
import { useDeferredValue, useEffect, useRef, useState } from 'react';
import type { Schemas } from '@/api/client';
import { useLanguage } from '@/i18n/language';
import { Page } from '@/app/Page';
import { Badge } from '@/ui/bits';
import { buttonClass } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { ListPage } from '@/ui/ListPage';
import { LinkedRow, Table, type Column } from '@/ui/Table';
import { companiesQuery } from './companies';
import { State } from './State';

type Company = Schemas['Company'];

export default function CompaniesPage() {
  const { t } = useLanguage();
  const [typed, setTyped] = useSearched();
  const q = useDeferredValue(typed.trim());
  const companies = useInfiniteQuery({ ...companiesQuery(q), placeholderData: keepPreviousData });
  const found = companies.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Page
      title={t('nav.companies')}
      description={t('companies.lead')}
      actions={
        <Link to="/settings/instance/companies/new" className={buttonClass('primary')}>
          <Plus size={16} aria-hidden />
          {t('nav.new_company')}
        </Link>
      }
    >
      <ListPage
        query={companies}
        head={<SearchField typed={typed} onType={setTyped} />}
        empty={
          companies.data &&
          found.length === 0 && (
            <Empty
              icon={Building}
              title={t('companies.none_title')}
              body={q ? t('companies.none_found', { q }) : t('companies.none_body')}
            />
          )
        }
      >
        {found.length > 0 && <CompanyTable companies={found} />}
      </ListPage>
      <Outlet />
    </Page>
  );
}

function SearchField({ typed, onType }: { typed: string; onType: (typed: string) => void }) {
  const { t } = useLanguage();
  return (
    <label className="flex items-center gap-2.5 border-b border-line px-4">
      <Search size={16} className="shrink-0 text-muted" aria-hidden />
      <span className="sr-only">{t('companies.search')}</span>
      <input
        type="search"
        value={typed}
        onChange={(event) => onType(event.target.value)}
        placeholder={t('companies.search')}
        className="h-11 w-full bg-transparent outline-none"
      />
    </label>
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
    void navigate({ to: '/settings/instance/companies', search: (typed ? { q: typed } : {}) as never, replace: true });
  }, [typed, navigate]);
  return [typed, setTyped];
}

function CompanyTable({ companies }: { companies: Company[] }) {
  const { t } = useLanguage();
  const columns: Column[] = [
    { label: t('companies.company') },
    { label: t('company.plan'), className: 'max-sm:hidden' },
    { label: t('company.hostname'), className: 'max-md:hidden' },
    { label: t('companies.state'), align: 'end' },
  ];
  return (
    <Table columns={columns}>
      {companies.map((company) => <CompanyRow key={company.id} company={company} />)}
    </Table>
  );
}

function CompanyRow({ company }: { company: Company }) {
  const { t, find } = useLanguage();
  return (
    <LinkedRow>
      <td className="max-w-0 px-4 py-2.5 max-sm:w-full sm:w-2/5">
        <Link
          data-row
          to="/settings/instance/companies/$ref"
          params={{ ref: company.slug }}
          className="block min-w-0 -outline-offset-2 after:absolute after:inset-0"
        >
          <span data-raw className="block truncate font-medium">{company.name}</span>
          <span data-raw className="block truncate text-sm text-muted">{company.slug}</span>
        </Link>
      </td>
      <td className="px-4 py-2.5 max-sm:hidden">{find(`company.plan_${company.plan}`) ?? <span data-raw>{company.plan}</span>}</td>
      <td className="max-w-0 px-4 py-2.5 max-md:hidden md:w-2/5">
        <div className="flex items-center gap-2">
          <span data-raw className="min-w-0 truncate">{company.domain ?? '–'}</span>
          {company.domain && !company.domain_verified && <Badge tone="warning">{t('companies.waits')}</Badge>}
        </div>
      </td>
      <td className="px-4 py-2.5 text-end"><State suspended={company.suspended} /></td>
    </LinkedRow>
  );
}
