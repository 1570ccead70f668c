import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { api, value, type Schemas } from '@/api/client';
import { companyQuery } from '@/api/companies';
import { isRefusal } from '@/api/refusal';
import { FirstToken } from '@/app/FirstToken';
import { useLanguage } from '@/app/language';
import { useIdentity } from '@/app/session';
import { Button } from '@/ui/Button';
import { SelectField, TextField } from '@/ui/Field';
import { Dialog, DialogActions } from '@/ui/Overlay';
import { Problem } from '@/ui/Problem';
import { nameable, TEAM_ROLES, type OrgRole, type Role } from './people';

type NewPerson = Schemas['NewPerson'];

/** Adds a person to any team; their first token is on screen once. */
export default function AddPerson() {
  const { t } = useLanguage();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const close = () => void navigate({ to: '/company/people' });
  const add = useMutation({
    mutationFn: (body: NewPerson) => value(api.POST('/api/org/members', { body })),
    onSuccess: () => void queries.invalidateQueries({ queryKey: ['members'] }),
  });
  if (add.data) return <FirstToken name={add.data.member.display_name} token={add.data.token} onClose={close} />;
  return (
    <Dialog open onClose={close} title={t('company.add_person')} description={t('members.add_lead')}>
      <PersonForm busy={add.isPending} error={add.error} onCancel={close} onPerson={add.mutate} />
    </Dialog>
  );
}

function PersonForm({ busy, error, onCancel, onPerson }: { busy: boolean; error: Error | null; onCancel: () => void; onPerson: (person: NewPerson) => void }) {
  const { t } = useLanguage();
  const { team, org_role: own } = useIdentity();
  const company = useQuery(companyQuery);
  const [role, setRole] = useState<Role>('member');
  const [wrong, setWrong] = useState(false);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '').trim();
    const valid = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/.test(text('username'));
    setWrong(!valid);
    if (valid) onPerson({ username: text('username'), display_name: text('display_name'), team_id: text('team') || null, role, org_role: (text('org_role') || null) as OrgRole | null });
  };
  const taken = isRefusal(error, 'identity.username_taken');
  return (
    <form noValidate className="grid gap-4" onSubmit={submit}>
      <TextField label={t('members.username')} name="username" autoComplete="off" autoCapitalize="none" spellCheck={false} autoFocus hint={t('members.username_hint')} problem={wrong ? t('members.username_hint') : taken ? t('errors.identity_username_taken') : undefined} />
      <TextField label={t('members.display_name')} optional={t('ui.optional')} name="display_name" autoComplete="off" />
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField label={t('company.team')} name="team" defaultValue={team.id}>{(company.data?.teams ?? [team]).map((one) => <option key={one.id} value={one.id} data-raw>{one.name}</option>)}</SelectField>
        <SelectField label={t('members.role')} value={role} onChange={(event) => setRole(event.target.value as Role)} hint={t(`members.role_${role}_more`)}>{TEAM_ROLES.map((one) => <option key={one} value={one}>{t(`members.role_${one}`)}</option>)}</SelectField>
      </div>
      <SelectField label={t('company.role')} name="org_role" defaultValue="" hint={t(own === 'org_owner' ? 'company.role_hint' : 'company.role_hint_admin')}>
        <option value="">{t('company.no_role')}</option>
        {nameable(own).map((one) => <option key={one} value={one}>{t(`members.${one}`)}</option>)}
      </SelectField>
      {!taken && <Problem error={error} />}
      <DialogActions><Button onClick={onCancel}>{t('ui.cancel')}</Button><Button type="submit" kind="primary" busy={busy}>{t('company.add_person')}</Button></DialogActions>
    </form>
  );
}
