import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, value } from '@/api/client';
import { companyQuery } from '@/api/companies';
import { useLanguage } from '@/i18n/language';
import { TextField } from '@/ui/Field';
import { FormDialog } from '@/ui/FormDialog';
import { toast } from '@/ui/toast';

export default function NewTeam() {
  const { t } = useLanguage();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [empty, setEmpty] = useState(false);
  const close = () => void navigate({ to: '/settings/company' });
  const create = useMutation({
    mutationFn: (name: string) => value(api.POST('/api/org/teams', { body: { name } })),
    onSuccess: (team) => {
      void queries.invalidateQueries(companyQuery);
      toast(t('company.team_made', { name: team.name }));
      close();
    },
  });
  const submit = (form: FormData) => {
    const name = String(form.get('name')).trim();
    setEmpty(!name);
    if (name) create.mutate(name);
  };
  return (
    <FormDialog
      title={t('nav.new_team')}
      description={t('company.new_team_lead')}
      action={t('company.create_team')}
      busy={create.isPending}
      error={create.error}
      onSubmit={submit}
      onClose={close}
    >
      <TextField
        label={t('company.team_name')}
        name="name"
        autoComplete="off"
        autoFocus
        maxLength={200}
        problem={empty ? t('ui.needed') : undefined}
      />
    </FormDialog>
  );
}
