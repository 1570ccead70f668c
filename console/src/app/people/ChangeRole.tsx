import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { api, value } from '@/api/client';
import { givable, givableAnywhere, type Role } from '@/api/roles';
import { Button } from '@/ui/Button';
import { SelectField } from '@/ui/Field';
import { Dialog, DialogActions } from '@/ui/Overlay';
import { Problem } from '@/ui/Problem';
import { toast } from '@/ui/toast';
import { useLanguage } from '@/i18n/language';
import { useOwnPassword } from '../own-password';
import { useIdentity } from '../session';
import type { PersonDialog } from './dialog';

export default function ChangeRole({ person, onClose }: PersonDialog) {
  const { t } = useLanguage();
  const { role: own, operator, team } = useIdentity();
  const queries = useQueryClient();
  const [role, setRole] = useState<Role>(person.role);
  const { display_name: name } = person;
  const change = useMutation({
    mutationFn: (password: string) =>
      value(api.PATCH('/api/members/{id}', { params: { path: { id: person.id } }, body: { role, password } })),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['members'] });
      toast(t('members.role_changed', { name, role: t(`members.role_${role}`) }));
      onClose();
    },
  });
  const confirmation = useOwnPassword(change.error);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const password = confirmation.read(new FormData(event.currentTarget));
    if (password) change.mutate(password);
  };
  const roles = person.team_id === team.id ? givable(own, operator) : givableAnywhere(own, operator);
  return (
    <Dialog open onClose={onClose} title={t('members.role_title', { name })} description={t('members.role_lead')}>
      <form noValidate onSubmit={submit} className="grid gap-4">
        <SelectField
          label={t('members.role')}
          value={role}
          onChange={(event) => setRole(event.target.value as Role)}
          hint={t(`members.role_${role}_more`)}
        >
          {roles.map((one) => <option key={one} value={one}>{t(`members.role_${one}`)}</option>)}
        </SelectField>
        {confirmation.field}
        {!confirmation.refused && <Problem error={change.error} />}
        <DialogActions>
          <Button onClick={onClose}>{t('ui.cancel')}</Button>
          <Button type="submit" kind="primary" busy={change.isPending} disabled={role === person.role}>
            {t('members.change_role_action')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
