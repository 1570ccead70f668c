/** Letting colleagues in. The server keeps every share; it lists none, so this shows what was shared from here. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { Check, UserRoundSearch, X } from 'lucide-react';
import { useMemo, useState } from 'react';
import { api, value } from '@/api/client';
import type { paths } from '@/api/generated';
import { membersQuery, type Member, type Note } from '@/api/queries';
import { useLanguage } from '@/app/language';
import { score } from '@/app/score';
import { useIdentity } from '@/app/session';
import { Avatar, Badge } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { Field, TextField } from '@/ui/Field';
import { Dialog, DialogActions, IconButton } from '@/ui/Overlay';
import { Problem } from '@/ui/Problem';
import { toast } from '@/ui/toast';

type Permission = NonNullable<paths['/api/notes/{id}/share']['post']['requestBody']['content']['application/json']['permission']>;
const PERMISSIONS: Permission[] = ['notes:read', 'notes:write', 'notes:delete', 'notes:manage'];
const wordOf = (permission: Permission) => permission.replace('notes:', '') as 'read' | 'write' | 'delete' | 'manage';
/** Shares made since the page was opened, by note. */
const made = new Map<string, Map<string, Permission>>();

export function ShareDialog({ note, onClose }: { note: Note; onClose: () => void }) {
  const { t } = useLanguage();
  const members = useQuery(membersQuery);
  const [shares, setShares] = useState(() => new Map(made.get(note.id)));
  const [permission, setPermission] = useState<Permission>('notes:read');
  const remember = (next: Map<string, Permission>) => {
    made.set(note.id, next);
    setShares(next);
  };
  const share = useMutation({
    mutationFn: ({ member, level }: { member: Member; level: Permission | null }) => value(api.POST('/api/notes/{id}/share', { params: { path: { id: note.id } }, body: { user_id: member.id, permission: level } })),
    onMutate: ({ member, level }) => {
      const before = new Map(shares);
      const next = new Map(shares);
      if (level) next.set(member.id, level);
      else next.delete(member.id);
      remember(next);
      return before;
    },
    onSuccess: (_grant, { member, level }) => toast(t(level ? 'notes.shared_with' : 'notes.unshared_with', { name: member.display_name })),
    onError: (_error, _what, before) => before && remember(before),
  });
  const others = members.data?.filter((member) => member.id !== note.owner_id) ?? [];
  return (
    <Dialog open onClose={onClose} title={t('notes.share_title', { title: note.title })} description={t(note.visibility === 'team' ? 'notes.share_team' : 'notes.share_private')}>
      <PermissionField permission={permission} onChange={setPermission} />
      <People people={others} shares={shares} onShare={(member) => share.mutate({ member, level: permission })} loading={members.isPending} />
      <div className="mt-4"><Problem error={share.error ?? members.error} /></div>
      <Access note={note} people={members.data ?? []} shares={shares} onWithdraw={(member) => share.mutate({ member, level: null })} />
      <DialogActions><Button kind="primary" onClick={onClose}>{t('ui.done')}</Button></DialogActions>
    </Dialog>
  );
}

function PermissionField({ permission, onChange }: { permission: Permission; onChange: (permission: Permission) => void }) {
  const { t } = useLanguage();
  return (
    <Field label={t('notes.share_level')} hint={t(`notes.level_${wordOf(permission)}_more`)}>
      {(wiring) => <select {...wiring} value={permission} onChange={(event) => onChange(event.target.value as Permission)} className="field pe-8">{PERMISSIONS.map((one) => <option key={one} value={one}>{t(`notes.level_${wordOf(one)}`)}</option>)}</select>}
    </Field>
  );
}

function People({ people, shares, onShare, loading }: { people: Member[]; shares: Map<string, Permission>; onShare: (member: Member) => void; loading: boolean }) {
  const { t } = useLanguage();
  const [typed, setTyped] = useState('');
  const found = useMemo(() => people.filter((member) => !typed.trim() || score(typed.trim(), `${member.display_name} ${member.username}`) >= 0).slice(0, 5), [people, typed]);
  return (
    <div className="mt-4">
      <TextField label={t('notes.share_whom')} value={typed} onChange={(event) => setTyped(event.target.value)} placeholder={t('notes.share_search')} autoComplete="off" />
      {!loading && people.length === 0 && <p className="mt-3 flex items-center gap-2 rounded-lg bg-raised p-3 text-sm text-muted"><UserRoundSearch size={16} aria-hidden className="shrink-0" />{t('notes.share_nobody')}</p>}
      <ul className="mt-2 grid gap-0.5">
        {found.map((member) => (
          <li key={member.id} className="flex items-center gap-3 rounded-md px-2 py-1.5 hover:bg-raised">
            <Avatar name={member.display_name} />
            <span className="min-w-0 flex-1"><span data-raw className="block truncate font-medium">{member.display_name}</span><span data-raw className="block truncate text-xs text-muted">{member.username}</span></span>
            {shares.has(member.id) ? <Badge tone="success"><Check size={12} aria-hidden />{t('notes.share_done')}</Badge> : <Button size="small" onClick={() => onShare(member)} aria-label={t('notes.share_with', { name: member.display_name })}>{t('notes.share')}</Button>}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Access({ note, people, shares, onWithdraw }: { note: Note; people: Member[]; shares: Map<string, Permission>; onWithdraw: (member: Member) => void }) {
  const { t } = useLanguage();
  const { user } = useIdentity();
  const owner = people.find((member) => member.id === note.owner_id);
  const shared = people.filter((member) => shares.has(member.id));
  return (
    <div className="mt-2 border-t border-line pt-4">
      <h3 className="mb-1 text-sm font-semibold">{t('notes.share_access')}</h3>
      <ul>
        {owner && <li className="flex items-center gap-3 py-1.5"><Avatar name={owner.display_name} size={24} /><span data-raw className="min-w-0 flex-1 truncate">{owner.display_name}</span><span className="text-sm text-muted">{owner.id === user.id ? t('notes.owner_you') : t('notes.owner')}</span></li>}
        {shared.map((member) => (
          <li key={member.id} className="flex items-center gap-3 py-1.5">
            <Avatar name={member.display_name} size={24} />
            <span data-raw className="min-w-0 flex-1 truncate">{member.display_name}</span>
            <span className="text-sm text-muted">{t(`notes.level_${wordOf(shares.get(member.id) ?? 'notes:read')}`)}</span>
            <IconButton label={t('notes.share_withdraw', { name: member.display_name })} onClick={() => onWithdraw(member)} className="size-6"><X size={14} aria-hidden /></IconButton>
          </li>
        ))}
      </ul>
    </div>
  );
}
