import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, value, type Schemas } from '@/api/client';
import { membersQuery } from '@/api/queries';
import { isRefusal } from '@/api/refusal';
import { givable, type Role } from '@/api/roles';
import { FirstToken } from '@/app/FirstToken';
import { useLanguage } from '@/i18n/language';
import { useOwnPassword } from '@/app/own-password';
import { useIdentity } from '@/app/session';
import { SelectField, TextField } from '@/ui/Field';
import { FormDialog, type FormOf } from '@/ui/FormDialog';

/** Adds a person; their first token is on screen once, as a link they can open. */
export default function AddMember() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const close = () => void navigate({ to: '/settings/members' });
  const add = useMutation({
    mutationFn: (body: Schemas['NewMember']) => value(api.POST('/api/members', { body })),
    onSuccess: () => void queries.invalidateQueries(membersQuery),
  });
  if (add.data) return <FirstToken name={add.data.member.display_name} token={add.data.token} onClose={close} />;
  return <MemberForm busy={add.isPending} error={add.error} onClose={close} onSubmit={add.mutate} />;
}

function MemberForm({ busy, error, onClose, onSubmit }: FormOf<Schemas['NewMember']>) {
  const { t } = useLanguage();
  const { role: own, operator } = useIdentity();
  const [role, setRole] = useState<Role>('member');
  const [wrong, setWrong] = useState(false);
  const confirmation = useOwnPassword(error);
  const submit = (form: FormData) => {
    const username = String(form.get('username')).trim();
    const valid = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/.test(username);
    const password = confirmation.read(form);
    setWrong(!valid);
    if (valid && password) onSubmit({ username, role, display_name: String(form.get('display_name')).trim(), password });
  };
  const taken = isRefusal(error, 'identity.username_taken');
  return (
    <FormDialog
      title={t('members.add_title')}
      description={t('members.add_lead')}
      action={t('nav.add_member')}
      busy={busy}
      error={taken || confirmation.refused ? null : error}
      onClose={onClose}
      onSubmit={submit}
    >
      <TextField
        label={t('members.username')}
        name="username"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        autoFocus
        hint={t('members.username_hint')}
        problem={wrong ? t('members.username_hint') : taken ? t('errors.identity_username_taken') : undefined}
      />
      <TextField label={t('members.display_name')} optional={t('ui.optional')} name="display_name" autoComplete="off" />
      <SelectField
        label={t('members.role')}
        value={role}
        onChange={(event) => setRole(event.target.value as Role)}
        hint={t(`members.role_${role}_more`)}
      >
        {givable(own, operator).map((one) => <option key={one} value={one}>{t(`members.role_${one}`)}</option>)}
      </SelectField>
      {confirmation.field}
    </FormDialog>
  );
}
