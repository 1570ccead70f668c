import { useQuery } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import { Info, ShieldCheck, UserPlus } from 'lucide-react';
import { membersQuery, type Member } from '@/api/queries';
import { ROLES } from '@/api/roles';
import { useLanguage } from '@/i18n/language';
import { Page } from '@/app/Page';
import { PersonMenu } from '@/app/people/PersonMenu';
import { useIdentity, useMay, useReadOnly } from '@/app/session';
import { Avatar, Badge, Card } from '@/ui/bits';
import { buttonClass } from '@/ui/Button';
import { ListPage } from '@/ui/ListPage';
import { Row, Table, type Column } from '@/ui/Table';

export default function MembersPage() {
  const { t } = useLanguage();
  const may = useMay();
  const readOnly = useReadOnly();
  const { team } = useIdentity();
  const members = useQuery(membersQuery);
  return (
    <Page
      title={t('nav.members')}
      description={t('members.lead', { team: team.name })}
      actions={
        may('members:manage') &&
        !readOnly && (
          <Link to="/settings/members/new" className={buttonClass('primary')}>
            <UserPlus size={16} aria-hidden />
            {t('nav.add_member')}
          </Link>
        )
      }
    >
      <div className="grid items-start gap-5 2xl:grid-cols-[minmax(0,1fr)_20rem]">
        <ListPage query={members}>{members.data && <MemberTable members={members.data} />}</ListPage>
        <Roles />
      </div>
      <Outlet />
    </Page>
  );
}

function MemberTable({ members }: { members: Member[] }) {
  const { t } = useLanguage();
  const columns: Column[] = [
    { label: t('members.person') },
    { label: t('members.role'), className: 'max-sm:hidden' },
    { label: t('members.two_factor'), className: 'whitespace-nowrap max-md:hidden' },
    { label: t('members.joined'), align: 'end', className: 'max-lg:hidden' },
    { label: t('ui.more_actions'), silent: true },
  ];
  return (
    <Table columns={columns}>
      {members.map((member) => <MemberRow key={member.id} member={member} members={members} />)}
    </Table>
  );
}

function MemberRow({ member, members }: { member: Member; members: Member[] }) {
  const { t, date } = useLanguage();
  const { user } = useIdentity();
  return (
    <Row>
      <td className="max-w-0 px-4 py-2.5 sm:w-1/2">
        <div className="flex items-center gap-3">
          <Avatar name={member.display_name} size={36} />
          <div className="min-w-0">
            <div className="flex items-center gap-2">
              <span data-raw className="truncate font-medium">{member.display_name}</span>
              {member.id === user.id && <Badge>{t('members.you')}</Badge>}
            </div>
            <div className="truncate text-sm text-muted">
              <span data-raw>{member.username}</span>
              <span className="sm:hidden">
                <span data-raw> · </span>
                {t(`members.role_${member.role}`)}
              </span>
            </div>
          </div>
        </div>
      </td>
      <td className="px-4 py-2.5 max-sm:hidden">
        <div className="flex flex-wrap gap-1.5">
          <Badge tone={member.role === 'owner' || member.role === 'admin' ? 'accent' : 'neutral'}>{t(`members.role_${member.role}`)}</Badge>
          {member.org_role && <Badge tone="info">{t(`members.${member.org_role}`)}</Badge>}
        </div>
      </td>
      <td className="px-4 py-2.5 max-md:hidden">
        {member.two_factor ? (
          <Badge tone="success">
            <ShieldCheck size={12} aria-hidden />
            {t('members.two_factor_on')}
          </Badge>
        ) : (
          <span className="text-sm text-muted">{t('members.two_factor_off')}</span>
        )}
      </td>
      <td className="px-4 py-2.5 text-end text-sm whitespace-nowrap text-muted tnum max-lg:hidden">{date(member.created_at)}</td>
      <td className="pe-2">
        <PersonMenu person={member} colleagues={members} />
      </td>
    </Row>
  );
}

function Roles() {
  const { t } = useLanguage();
  return (
    <Card className="p-5">
      <h2 className="flex items-center gap-2 font-semibold">
        <Info size={16} className="text-muted" aria-hidden />
        {t('members.roles_title')}
      </h2>
      <dl className="mt-3 grid gap-x-8 gap-y-3 sm:grid-cols-2 xl:grid-cols-3 2xl:grid-cols-1">
        {ROLES.map((role) => (
          <div key={role}>
            <dt className="font-medium">{t(`members.role_${role}`)}</dt>
            <dd className="text-sm text-muted">{t(`members.role_${role}_more`)}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}
