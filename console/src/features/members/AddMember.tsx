import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { api, value, type Schemas } from '@/api/client';
import { membersQuery } from '@/api/queries';
import { isRefusal } from '@/api/refusal';
import { FirstToken } from '@/app/FirstToken';
import { useLanguage } from '@/app/language';
import { useIdentity } from '@/app/session';
import { Button } from '@/ui/Button';
import { SelectField, TextField } from '@/ui/Field';
import { Dialog, DialogActions } from '@/ui/Overlay';
import { Problem } from '@/ui/Problem';
import { grantable, type Role } from './roles';

/** Adds a person; their first token is on screen once, as a link they can open. */
export default function AddMember() {
  const { t } = useLanguage();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const close = () => void navigate({ to: '/members' });
  const add = useMutation({
    mutationFn: (body: Schemas['NewMember']) => value(api.POST('/api/members', { body })),
    onSuccess: () => void queries.invalidateQueries(membersQuery),
  });
  if (add.data) return <FirstToken name={add.data.member.display_name} token={add.data.token} onClose={close} />;
  return (
    <Dialog open onClose={close} title={t('members.add_title')} description={t('members.add_lead')}>
      <MemberForm busy={add.isPending} error={add.error} onCancel={close} onMember={add.mutate} />
    </Dialog>
  );
}

function MemberForm({ busy, error, onCancel, onMember }: { busy: boolean; error: Error | null; onCancel: () => void; onMember: (member: Schemas['NewMember']) => void }) {
  const { t } = useLanguage();
  const { role: own, operator } = useIdentity();
  const [role, setRole] = useState<Role>('member');
  const [wrong, setWrong] = useState(false);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const username = String(form.get('username')).trim();
    const valid = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/.test(username);
    setWrong(!valid);
    if (valid) onMember({ username, role, display_name: String(form.get('display_name')).trim() });
  };
  const taken = isRefusal(error, 'identity.username_taken');
  return (
    <form noValidate className="grid gap-4" onSubmit={submit}>
      <TextField label={t('members.username')} name="username" autoComplete="off" autoCapitalize="none" spellCheck={false} autoFocus hint={t('members.username_hint')} problem={wrong ? t('members.username_hint') : taken ? t('errors.identity_username_taken') : undefined} />
      <TextField label={t('members.display_name')} optional={t('ui.optional')} name="display_name" autoComplete="off" />
      <SelectField label={t('members.role')} value={role} onChange={(event) => setRole(event.target.value as Role)} hint={t(`members.role_${role}_more`)}>
        {grantable(own, operator).map((one) => <option key={one} value={one}>{t(`members.role_${one}`)}</option>)}
      </SelectField>
      {!taken && <Problem error={error} />}
      <DialogActions><Button onClick={onCancel}>{t('ui.cancel')}</Button><Button type="submit" kind="primary" busy={busy}>{t('members.add')}</Button></DialogActions>
    </form>
  );
}
