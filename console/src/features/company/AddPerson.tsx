import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, value, type Schemas } from '@/api/client';
import { companyQuery } from '@/api/companies';
import { isRefusal } from '@/api/refusal';
import { givableAnywhere, type Role } from '@/api/roles';
import { FirstToken } from '@/app/FirstToken';
import { useLanguage } from '@/i18n/language';
import { useOwnPassword } from '@/app/own-password';
import { useIdentity } from '@/app/session';
import { SelectField, TextField } from '@/ui/Field';
import { FormDialog, type FormOf } from '@/ui/FormDialog';
import { nameable, type OrgRole } from './people';

type NewPerson = Schemas['NewPerson'];

/** Adds a person to any team; their first token is on screen once. */
export default function AddPerson() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const close = () => void navigate({ to: '/settings/company/people' });
  const add = useMutation({
    mutationFn: (body: NewPerson) => value(api.POST('/api/org/members', { body })),
    onSuccess: () => void queries.invalidateQueries({ queryKey: ['members'] }),
  });
  if (add.data) return <FirstToken name={add.data.member.display_name} token={add.data.token} onClose={close} />;
  return <PersonForm busy={add.isPending} error={add.error} onClose={close} onSubmit={add.mutate} />;
}

function PersonForm({ busy, error, onClose, onSubmit }: FormOf<NewPerson>) {
  const { t } = useLanguage();
  const { team, role: teamRole, operator, org_role: own } = useIdentity();
  const roles = givableAnywhere(teamRole, operator);
  const company = useQuery(companyQuery);
  const [role, setRole] = useState<Role>(roles.includes('member') ? 'member' : 'viewer');
  const [wrong, setWrong] = useState(false);
  const confirmation = useOwnPassword(error);
  const submit = (form: FormData) => {
    const text = (name: string) => String(form.get(name) ?? '').trim();
    const valid = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/.test(text('username'));
    const password = confirmation.read(form);
    setWrong(!valid);
    if (valid && password) {
      onSubmit({
        password,
        username: text('username'),
        display_name: text('display_name'),
        team_id: text('team') || null,
        role,
        org_role: (text('org_role') || null) as OrgRole | null,
      });
    }
  };
  const taken = isRefusal(error, 'identity.username_taken');
  return (
    <FormDialog
      title={t('nav.add_person')}
      description={t('members.add_lead')}
      action={t('nav.add_person')}
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
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField label={t('company.team')} name="team" defaultValue={team.id}>
          {(company.data?.teams ?? [team]).map((one) => (
            <option key={one.id} value={one.id} data-raw>{one.name}</option>
          ))}
        </SelectField>
        <SelectField
          label={t('members.role')}
          value={role}
          onChange={(event) => setRole(event.target.value as Role)}
          hint={t(`members.role_${role}_more`)}
        >
          {roles.map((one) => <option key={one} value={one}>{t(`members.role_${one}`)}</option>)}
        </SelectField>
      </div>
      <SelectField
        label={t('company.role')}
        name="org_role"
        defaultValue=""
        hint={t(own === 'org_owner' ? 'company.role_hint' : 'company.role_hint_admin')}
      >
        <option value="">{t('company.no_role')}</option>
        {nameable(own).map((one) => <option key={one} value={one}>{t(`members.${one}`)}</option>)}
      </SelectField>
      {confirmation.field}
    </FormDialog>
  );
}
