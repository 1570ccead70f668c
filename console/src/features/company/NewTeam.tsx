import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { api, value } from '@/api/client';
import { companyQuery } from '@/api/companies';
import { useLanguage } from '@/app/language';
import { Button } from '@/ui/Button';
import { TextField } from '@/ui/Field';
import { Dialog, DialogActions } from '@/ui/Overlay';
import { Problem } from '@/ui/Problem';
import { toast } from '@/ui/toast';

export default function NewTeam() {
  const { t } = useLanguage();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [empty, setEmpty] = useState(false);
  const close = () => void navigate({ to: '/company' });
  const create = useMutation({
    mutationFn: (name: string) => value(api.POST('/api/org/teams', { body: { name } })),
    onSuccess: (team) => {
      void queries.invalidateQueries(companyQuery);
      toast(t('company.team_made', { name: team.name }));
      close();
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get('name')).trim();
    setEmpty(!name);
    if (name) create.mutate(name);
  };
  return (
    <Dialog open onClose={close} title={t('company.new_team')} description={t('company.new_team_lead')}>
      <form noValidate className="grid gap-4" onSubmit={submit}>
        <TextField label={t('company.team_name')} name="name" autoComplete="off" autoFocus maxLength={200} problem={empty ? t('ui.needed') : undefined} />
        <Problem error={create.error} />
        <DialogActions><Button onClick={close}>{t('ui.cancel')}</Button><Button type="submit" kind="primary" busy={create.isPending}>{t('company.create_team')}</Button></DialogActions>
      </form>
    </Dialog>
  );
}
