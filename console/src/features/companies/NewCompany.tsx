import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, value, type Schemas } from '@/api/client';
import { isRefusal } from '@/api/refusal';
import { FirstToken } from '@/app/FirstToken';
import { useLanguage } from '@/i18n/language';
import { useOwnPassword } from '@/app/own-password';
import { SelectField, TextField } from '@/ui/Field';
import { FormDialog, type FormOf } from '@/ui/FormDialog';
import { toast } from '@/ui/toast';
import { isSlug, slugOf } from './companies';
import { PlanOptions } from './PlanOptions';

type Draft = Schemas['NewCompany'];

/** Founds a company; its owner's first token is on screen once. */
export default function NewCompany() {
  const { t } = useLanguage();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const back = () => void navigate({ to: '/settings/instance/companies' });
  const found = useMutation({
    mutationFn: (body: Draft) => value(api.POST('/api/orgs', { body })),
    onSuccess: (made) => {
      void queries.invalidateQueries({ queryKey: ['companies'] });
      if (!made.token) toast(t('companies.made', { name: made.org.name }));
    },
  });
  const open = () => void navigate({ to: '/settings/instance/companies/$ref', params: { ref: found.data?.org.slug ?? '' } });
  if (found.data?.token) {
    return (
      <FirstToken
        name={found.data.owner.display_name}
        token={found.data.token}
        title={t('companies.made', { name: found.data.org.name })}
        onClose={open}
      />
    );
  }
  return <CompanyForm busy={found.isPending} error={found.error} onClose={back} onSubmit={found.mutate} />;
}

function CompanyForm({ busy, error, onClose, onSubmit }: FormOf<Draft>) {
  const { t } = useLanguage();
  const [name, setName] = useState('');
  const [slug, setSlug] = useState<string | null>(null);
  const [wrong, setWrong] = useState<string[]>([]);
  const own = useOwnPassword(error);
  const shown = slug ?? slugOf(name);
  const submit = (form: FormData) => {
    const text = (field: string) => String(form.get(field)).trim();
    const problems = [
      !name.trim() && 'name',
      !isSlug(shown) && 'slug',
      !/^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/.test(text('owner')) && 'owner',
    ].filter((one) => one !== false);
    const password = own.read(form);
    setWrong(problems);
    if (problems.length === 0 && password) {
      onSubmit({
        password,
        name: name.trim(),
        slug: shown,
        plan: text('plan'),
        owner: { username: text('owner') },
        ...(text('team') ? { team: text('team') } : {}),
      });
    }
  };
  const [slugTaken, ownerTaken] = [isRefusal(error, 'tenancy.slug_taken'), isRefusal(error, 'identity.username_taken')];
  return (
    <FormDialog
      title={t('nav.new_company')}
      description={t('companies.new_lead')}
      action={t('companies.create')}
      busy={busy}
      error={slugTaken || ownerTaken || own.refused ? null : error}
      onClose={onClose}
      onSubmit={submit}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label={t('companies.name')}
          value={name}
          onChange={(event) => setName(event.target.value)}
          autoComplete="off"
          autoFocus
          maxLength={200}
          problem={wrong.includes('name') ? t('ui.needed') : undefined}
        />
        <TextField
          label={t('companies.slug')}
          value={shown}
          onChange={(event) => setSlug(event.target.value)}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          className="font-mono"
          hint={t('companies.slug_hint')}
          problem={wrong.includes('slug') ? t('companies.slug_hint') : slugTaken ? t('errors.tenancy_slug_taken') : undefined}
        />
        <SelectField label={t('company.plan')} name="plan" defaultValue="team"><PlanOptions /></SelectField>
        <TextField label={t('companies.first_team')} name="team" autoComplete="off" optional={t('ui.optional')} />
      </div>
      <TextField
        label={t('companies.owner')}
        name="owner"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        hint={t('companies.owner_hint')}
        problem={wrong.includes('owner') ? t('members.username_hint') : ownerTaken ? t('errors.identity_username_taken') : undefined}
      />
      {own.field}
    </FormDialog>
  );
}
