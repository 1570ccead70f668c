/** Everybody in the company, across its teams, and their roles in it. */
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import { Lock, UserPlus } from 'lucide-react';
import { useState } from 'react';
import { api, value, type Schemas } from '@/api/client';
import { companyQuery } from '@/api/companies';
import type { Member } from '@/api/queries';
import { AskPassword } from '@/app/AskPassword';
import { useLanguage } from '@/i18n/language';
import { Page } from '@/app/Page';
import { PersonMenu } from '@/app/people/PersonMenu';
import { useIdentity, useMay, useReadOnly } from '@/app/session';
import { Avatar, Badge } from '@/ui/bits';
import { buttonClass } from '@/ui/Button';
import { ListPage } from '@/ui/ListPage';
import { Row, Table, type Column } from '@/ui/Table';
import { toast } from '@/ui/toast';
import { lockOf, nameable, peopleQuery, type OrgRole } from './people';

export default function PeoplePage() {
  const { t } = useLanguage();
  const may = useMay();
  const readOnly = useReadOnly();
  const people = useInfiniteQuery(peopleQuery);
  const found = people.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Page
      title={t('nav.people')}
      description={t('company.people_lead')}
      actions={
        may('org:manage') &&
        !readOnly && (
          <Link to="/settings/company/people/new" className={buttonClass('primary')}>
            <UserPlus size={16} aria-hidden />
            {t('nav.add_person')}
          </Link>
        )
      }
    >
      <ListPage query={people}>{people.data && <People people={found} />}</ListPage>
      <Outlet />
    </Page>
  );
}

function People({ people }: { people: Member[] }) {
  const { t } = useLanguage();
  const columns: Column[] = [
    { label: t('members.person') },
    { label: t('company.team'), className: 'max-md:hidden' },
    { label: t('members.role'), className: 'max-lg:hidden' },
    { label: t('company.role'), className: 'w-56 max-sm:w-32 max-sm:px-0' },
    { label: t('ui.more_actions'), silent: true },
  ];
  return (
    <Table columns={columns}>
      {people.map((person) => <PersonRow key={person.id} person={person} people={people} />)}
    </Table>
  );
}

function PersonRow({ person, people }: { person: Member; people: Member[] }) {
  const { t } = useLanguage();
  const { user } = useIdentity();
  const company = useQuery(companyQuery);
  const team = company.data?.teams.find((one) => one.id === person.team_id)?.name ?? '';
  return (
    <Row>
      <td className="max-w-0 px-4 py-2.5 md:w-2/5">
        <div className="flex items-center gap-3">
          <span className="max-sm:hidden"><Avatar name={person.display_name} size={36} /></span>
          <div className="min-w-0">
            <div className="flex flex-wrap items-center gap-x-2">
              <span data-raw className="truncate font-medium">{person.display_name}</span>
              {person.id === user.id && <Badge>{t('members.you')}</Badge>}
            </div>
            <div className="truncate text-sm text-muted">
              <span data-raw>{person.username}</span>
              <span data-raw className="md:hidden">{team && ` · ${team}`}</span>
            </div>
          </div>
        </div>
      </td>
      <td data-raw className="px-4 py-2.5 max-md:hidden">{team}</td>
      <td className="px-4 py-2.5 max-lg:hidden">
        <Badge tone={person.role === 'owner' || person.role === 'admin' ? 'accent' : 'neutral'}>{t(`members.role_${person.role}`)}</Badge>
      </td>
      <td className="px-4 py-2.5 max-sm:px-0"><RoleCell person={person} /></td>
      <td className="pe-2"><PersonMenu person={person} colleagues={people.filter((one) => one.team_id === person.team_id)} /></td>
    </Row>
  );
}

function RoleCell({ person }: { person: Member }) {
  const { t } = useLanguage();
  const identity = useIdentity();
  const may = useMay();
  const readOnly = useReadOnly();
  const locked = lockOf(person, identity);
  if (!may('org:manage') || readOnly) {
    return person.org_role ? (
      <Badge tone="info">{t(`members.${person.org_role}`)}</Badge>
    ) : (
      <span className="text-sm text-muted">{t('company.no_role')}</span>
    );
  }
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
  const [asked, setAsked] = useState<OrgRole | null>();
  const change = useMutation({
    mutationFn: (body: Schemas['OrgRoleChange']) =>
      value(api.PATCH('/api/org/members/{id}', { params: { path: { id: person.id } }, body })),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['members'] });
      toast(t('company.role_changed', { name: person.display_name }));
      setAsked(undefined);
    },
  });
  const close = () => {
    setAsked(undefined);
    change.reset();
  };
  const title = t('company.role_of', { name: person.display_name });
  return (
    <>
      <select
        aria-label={title}
        value={(asked === undefined ? person.org_role : asked) ?? ''}
        onChange={(event) => setAsked((event.target.value || null) as OrgRole | null)}
        className="field pe-8 max-sm:ps-2 max-sm:pe-6 max-sm:text-sm"
      >
        <option value="">{t('company.no_role')}</option>
        {nameable(own).map((role) => <option key={role} value={role}>{t(`members.${role}`)}</option>)}
      </select>
      {asked !== undefined && (
        <AskPassword
          title={title}
          description={asked ? t(`members.${asked}`) : t('company.no_role')}
          action={t('members.change_role_action')}
          busy={change.isPending}
          error={change.error}
          onSubmit={(password) => change.mutate({ org_role: asked, password })}
          onClose={close}
        />
      )}
    </>
  );
}
