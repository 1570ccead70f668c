import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import { Info, MoreHorizontal, ShieldCheck, ShieldOff, UserPlus } from 'lucide-react';
import { useRef, useState } from 'react';
import { api, value } from '@/api/client';
import { membersQuery, type Member } from '@/api/queries';
import { useLanguage } from '@/app/language';
import { Page } from '@/app/Page';
import { useIdentity, useMay, useReadOnly } from '@/app/session';
import { Avatar, Badge, Card, SkeletonRows } from '@/ui/bits';
import { Button, buttonClass } from '@/ui/Button';
import { Confirm } from '@/ui/Confirm';
import { IconButton, Menu, MenuContent, MenuItem } from '@/ui/Overlay';
import { Problem } from '@/ui/Problem';
import { useRowKeys } from '@/ui/rows';
import { toast } from '@/ui/toast';
import { ROLES } from './roles';

export default function MembersPage() {
  const { t } = useLanguage();
  const may = useMay();
  const readOnly = useReadOnly();
  const { team } = useIdentity();
  const members = useQuery(membersQuery);
  const [revoking, setRevoking] = useState<Member | null>(null);
  const list = useRef<HTMLDivElement>(null);
  useRowKeys(list);
  return (
    <Page
      title={t('members.title')}
      description={t('members.lead', { team: team.name })}
      actions={may('members:manage') && !readOnly && <Link to="/members/new" className={buttonClass('primary')}><UserPlus size={16} aria-hidden />{t('members.add')}</Link>}
    >
      <div className="grid items-start gap-5 2xl:grid-cols-[minmax(0,1fr)_20rem]">
        <Card className="overflow-hidden">
          {members.isPending && <SkeletonRows label={t('app.loading')} />}
          {members.error && <div className="p-4"><Problem error={members.error} action={<Button size="small" onClick={() => void members.refetch()}>{t('ui.retry')}</Button>} /></div>}
          {members.data && <div ref={list}><MemberTable members={members.data} onRevoke={setRevoking} /></div>}
        </Card>
        <Roles />
      </div>
      {revoking && <RevokeTwoFactor member={revoking} onClose={() => setRevoking(null)} />}
      <Outlet />
    </Page>
  );
}

function MemberTable({ members, onRevoke }: { members: Member[]; onRevoke: (member: Member) => void }) {
  const { t } = useLanguage();
  return (
    <table className="w-full text-start">
      <thead>
        <tr className="border-b border-line text-sm text-muted">
          <th scope="col" className="px-4 py-2.5 text-start font-medium">{t('members.person')}</th>
          <th scope="col" className="px-4 py-2.5 text-start font-medium max-sm:hidden">{t('members.role')}</th>
          <th scope="col" className="px-4 py-2.5 text-start font-medium whitespace-nowrap max-md:hidden">{t('members.two_factor')}</th>
          <th scope="col" className="px-4 py-2.5 text-end font-medium max-lg:hidden">{t('members.joined')}</th>
          <th scope="col" className="w-12"><span className="sr-only">{t('ui.more_actions')}</span></th>
        </tr>
      </thead>
      <tbody>{members.map((member) => <MemberRow key={member.id} member={member} onRevoke={onRevoke} />)}</tbody>
    </table>
  );
}

function MemberRow({ member, onRevoke }: { member: Member; onRevoke: (member: Member) => void }) {
  const { t, date } = useLanguage();
  const { user, operator } = useIdentity();
  return (
    <tr data-row tabIndex={-1} className="border-b border-line -outline-offset-2 last:border-0 hover:bg-raised/60">
      <td className="max-w-0 px-4 py-2.5 sm:w-1/2">
        <div className="flex items-center gap-3">
          <Avatar name={member.display_name} size={36} />
          <div className="min-w-0">
            <div className="flex items-center gap-2"><span data-raw className="truncate font-medium">{member.display_name}</span>{member.id === user.id && <Badge>{t('members.you')}</Badge>}</div>
            <div className="truncate text-sm text-muted"><span data-raw>{member.username}</span><span className="sm:hidden"><span data-raw> · </span>{t(`members.role_${member.role}`)}</span></div>
          </div>
        </div>
      </td>
      <td className="px-4 py-2.5 max-sm:hidden"><div className="flex flex-wrap gap-1.5"><Badge tone={member.role === 'owner' || member.role === 'admin' ? 'accent' : 'neutral'}>{t(`members.role_${member.role}`)}</Badge>{member.org_role && <Badge tone="info">{t(`members.${member.org_role}`)}</Badge>}</div></td>
      <td className="px-4 py-2.5 max-md:hidden">{member.two_factor ? <Badge tone="success"><ShieldCheck size={12} aria-hidden />{t('members.two_factor_on')}</Badge> : <span className="text-sm text-muted">{t('members.two_factor_off')}</span>}</td>
      <td className="px-4 py-2.5 text-end text-sm whitespace-nowrap text-muted tnum max-lg:hidden">{date(member.created_at)}</td>
      <td className="pe-2">
        {operator && member.two_factor && (
          <Menu.Root>
            <Menu.Trigger asChild><IconButton label={t('members.actions_for', { name: member.display_name })}><MoreHorizontal size={16} aria-hidden /></IconButton></Menu.Trigger>
            <MenuContent align="end"><MenuItem danger onSelect={() => onRevoke(member)}><ShieldOff size={15} aria-hidden />{t('members.revoke_two_factor')}</MenuItem></MenuContent>
          </Menu.Root>
        )}
      </td>
    </tr>
  );
}

function RevokeTwoFactor({ member, onClose }: { member: Member; onClose: () => void }) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => value(api.DELETE('/api/admin/users/{id}/2fa', { params: { path: { id: member.id } } })),
    onSuccess: () => {
      void queries.invalidateQueries(membersQuery);
      toast(t('members.revoked', { name: member.display_name }));
      onClose();
    },
  });
  return <Confirm title={t('members.revoke_title', { name: member.display_name })} body={t('members.revoke_body')} action={t('members.revoke_two_factor')} busy={revoke.isPending} error={revoke.error} onConfirm={() => revoke.mutate()} onClose={onClose} />;
}

function Roles() {
  const { t } = useLanguage();
  return (
    <Card className="p-5">
      <h2 className="flex items-center gap-2 font-semibold"><Info size={16} className="text-muted" aria-hidden />{t('members.roles_title')}</h2>
      <dl className="mt-3 grid gap-x-8 gap-y-3 sm:grid-cols-2 xl:grid-cols-3 2xl:grid-cols-1">
        {ROLES.map((role) => <div key={role}><dt className="font-medium">{t(`members.role_${role}`)}</dt><dd className="text-sm text-muted">{t(`members.role_${role}_more`)}</dd></div>)}
      </dl>
    </Card>
  );
}
