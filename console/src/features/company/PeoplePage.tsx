/** Everybody in the company, across its teams, and their roles in it. */
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import { Lock, UserPlus } from 'lucide-react';
import { useRef } from 'react';
import { api, value } from '@/api/client';
import { companyQuery } from '@/api/companies';
import type { Member } from '@/api/queries';
import { useLanguage } from '@/app/language';
import { Page } from '@/app/Page';
import { useIdentity, useMay, useReadOnly } from '@/app/session';
import { Avatar, Badge, Card, SkeletonRows } from '@/ui/bits';
import { Button, buttonClass } from '@/ui/Button';
import { Problem } from '@/ui/Problem';
import { useRowKeys } from '@/ui/rows';
import { toast } from '@/ui/toast';
import { lockOf, nameable, peopleQuery, type OrgRole } from './people';

export default function PeoplePage() {
  const { t } = useLanguage();
  const may = useMay();
  const readOnly = useReadOnly();
  const people = useInfiniteQuery(peopleQuery);
  const list = useRef<HTMLDivElement>(null);
  useRowKeys(list);
  const found = people.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Page
      title={t('company.people')}
      description={t('company.people_lead')}
      actions={may('org:manage') && !readOnly && <Link to="/company/people/new" className={buttonClass('primary')}><UserPlus size={16} aria-hidden />{t('company.add_person')}</Link>}
    >
      <Card className="overflow-hidden">
        {people.isPending && <SkeletonRows label={t('app.loading')} />}
        {people.error && <div className="p-4"><Problem error={people.error} action={<Button size="small" onClick={() => void people.refetch()}>{t('ui.retry')}</Button>} /></div>}
        {people.data && <div ref={list}><People people={found} /></div>}
      </Card>
      {people.hasNextPage && <Button className="mt-5 w-full" busy={people.isFetchingNextPage} onClick={() => void people.fetchNextPage()}>{t('ui.more')}</Button>}
      <Outlet />
    </Page>
  );
}

function People({ people }: { people: Member[] }) {
  const { t } = useLanguage();
  return (
    <table className="w-full text-start">
      <thead>
        <tr className="border-b border-line text-sm text-muted">
          <th scope="col" className="px-4 py-2.5 text-start font-medium">{t('members.person')}</th>
          <th scope="col" className="px-4 py-2.5 text-start font-medium max-md:hidden">{t('company.team')}</th>
          <th scope="col" className="px-4 py-2.5 text-start font-medium max-lg:hidden">{t('members.role')}</th>
          <th scope="col" className="w-56 px-4 py-2.5 text-start font-medium max-sm:w-48">{t('company.role')}</th>
        </tr>
      </thead>
      <tbody>{people.map((person) => <Row key={person.id} person={person} />)}</tbody>
    </table>
  );
}

function Row({ person }: { person: Member }) {
  const { t } = useLanguage();
  const { user } = useIdentity();
  const company = useQuery(companyQuery);
  const team = company.data?.teams.find((one) => one.id === person.team_id)?.name ?? '';
  return (
    <tr data-row tabIndex={-1} className="border-b border-line -outline-offset-2 last:border-0 hover:bg-raised/60">
      <td className="max-w-0 px-4 py-2.5 md:w-2/5">
        <div className="flex items-center gap-3">
          <span className="max-sm:hidden"><Avatar name={person.display_name} size={36} /></span>
          <div className="min-w-0">
            <div className="flex flex-wrap items-center gap-x-2"><span data-raw className="truncate font-medium">{person.display_name}</span>{person.id === user.id && <Badge>{t('members.you')}</Badge>}</div>
            <div className="truncate text-sm text-muted"><span data-raw>{person.username}</span><span data-raw className="md:hidden">{team && ` · ${team}`}</span></div>
          </div>
        </div>
      </td>
      <td data-raw className="px-4 py-2.5 max-md:hidden">{team}</td>
      <td className="px-4 py-2.5 max-lg:hidden"><Badge tone={person.role === 'owner' || person.role === 'admin' ? 'accent' : 'neutral'}>{t(`members.role_${person.role}`)}</Badge></td>
      <td className="px-4 py-2.5"><RoleCell person={person} /></td>
    </tr>
  );
}

function RoleCell({ person }: { person: Member }) {
  const { t } = useLanguage();
  const identity = useIdentity();
  const may = useMay();
  const readOnly = useReadOnly();
  const locked = lockOf(person, identity);
  if (!may('org:manage') || readOnly) return person.org_role ? <Badge tone="info">{t(`members.${person.org_role}`)}</Badge> : <span className="text-sm text-muted">{t('company.no_role')}</span>;
  if (!locked) return <RoleSelect person={person} />;
  return (
    <div>
      <Badge tone="info"><Lock size={11} aria-hidden />{person.org_role ? t(`members.${person.org_role}`) : t('company.no_role')}</Badge>
      <p className="mt-1 text-xs text-muted">{t(locked === 'own' ? 'company.own_role' : 'company.owners_only')}</p>
    </div>
  );
}

function RoleSelect({ person }: { person: Member }) {
  const { t } = useLanguage();
  const { org_role: own } = useIdentity();
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: (org_role: OrgRole | null) => value(api.PATCH('/api/org/members/{id}', { params: { path: { id: person.id } }, body: { org_role } })),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['members'] });
      toast(t('company.role_changed', { name: person.display_name }));
    },
  });
  const shown = change.isPending ? (change.variables ?? null) : person.org_role;
  return (
    <>
      <select aria-label={t('company.role_of', { name: person.display_name })} value={shown ?? ''} disabled={change.isPending} onChange={(event) => change.mutate((event.target.value || null) as OrgRole | null)} className="field pe-8 max-sm:ps-2 max-sm:pe-6 max-sm:text-sm">
        <option value="">{t('company.no_role')}</option>
        {nameable(own).map((role) => <option key={role} value={role}>{t(`members.${role}`)}</option>)}
      </select>
      <Problem error={change.error} />
    </>
  );
}
