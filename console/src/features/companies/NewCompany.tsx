import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { api, value, type Schemas } from '@/api/client';
import { PLANS, type Plan } from '@/api/companies';
import { isRefusal } from '@/api/refusal';
import { FirstToken } from '@/app/FirstToken';
import { useLanguage } from '@/app/language';
import { Button } from '@/ui/Button';
import { SelectField, TextField } from '@/ui/Field';
import { Dialog, DialogActions } from '@/ui/Overlay';
import { Problem } from '@/ui/Problem';
import { toast } from '@/ui/toast';
import { isSlug, slugOf } from './companies';

type Draft = Schemas['NewCompany'];

/** Founds a company; its owner's first token is on screen once. */
export default function NewCompany() {
  const { t } = useLanguage();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const back = () => void navigate({ to: '/instance/companies' });
  const found = useMutation({
    mutationFn: (body: Draft) => value(api.POST('/api/orgs', { body })),
    onSuccess: (made) => {
      void queries.invalidateQueries({ queryKey: ['companies'] });
      if (!made.token) toast(t('companies.made', { name: made.org.name }));
    },
  });
  const open = () => void navigate({ to: '/instance/companies/$ref', params: { ref: found.data?.org.slug ?? '' } });
  if (found.data?.token) return <FirstToken name={found.data.owner.display_name} token={found.data.token} title={t('companies.made', { name: found.data.org.name })} onClose={open} />;
  return (
    <Dialog open onClose={back} title={t('companies.new')} description={t('companies.new_lead')}>
      <CompanyForm busy={found.isPending} error={found.error} onCancel={back} onCompany={found.mutate} />
    </Dialog>
  );
}

function CompanyForm({ busy, error, onCancel, onCompany }: { busy: boolean; error: Error | null; onCancel: () => void; onCompany: (company: Draft) => void }) {
  const { t } = useLanguage();
  const [name, setName] = useState('');
  const [slug, setSlug] = useState<string | null>(null);
  const [wrong, setWrong] = useState<string[]>([]);
  const shown = slug ?? slugOf(name);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (field: string) => String(form.get(field)).trim();
    const problems = [!name.trim() && 'name', !isSlug(shown) && 'slug', !/^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/.test(text('owner')) && 'owner'].filter((one) => one !== false);
    setWrong(problems);
    if (problems.length === 0) onCompany({ name: name.trim(), slug: shown, plan: text('plan') as Plan, owner: { username: text('owner') }, ...(text('team') ? { team: text('team') } : {}) });
  };
  const [slugTaken, ownerTaken] = [isRefusal(error, 'tenancy.slug_taken'), isRefusal(error, 'identity.username_taken')];
  return (
    <form noValidate className="grid gap-4" onSubmit={submit}>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField label={t('companies.name')} value={name} onChange={(event) => setName(event.target.value)} autoComplete="off" autoFocus maxLength={200} problem={wrong.includes('name') ? t('ui.needed') : undefined} />
        <TextField label={t('companies.slug')} value={shown} onChange={(event) => setSlug(event.target.value)} autoComplete="off" autoCapitalize="none" spellCheck={false} className="font-mono" hint={t('companies.slug_hint')} problem={wrong.includes('slug') ? t('companies.slug_hint') : slugTaken ? t('errors.tenancy_slug_taken') : undefined} />
        <SelectField label={t('company.plan')} name="plan" defaultValue="team">{PLANS.map((plan) => <option key={plan} value={plan}>{t(`company.plan_${plan}`)}</option>)}</SelectField>
        <TextField label={t('companies.first_team')} name="team" autoComplete="off" optional={t('ui.optional')} />
      </div>
      <TextField label={t('companies.owner')} name="owner" autoComplete="off" autoCapitalize="none" spellCheck={false} hint={t('companies.owner_hint')} problem={wrong.includes('owner') ? t('members.username_hint') : ownerTaken ? t('errors.identity_username_taken') : undefined} />
      {!slugTaken && !ownerTaken && <Problem error={error} />}
      <DialogActions><Button onClick={onCancel}>{t('ui.cancel')}</Button><Button type="submit" kind="primary" busy={busy}>{t('companies.create')}</Button></DialogActions>
    </form>
  );
}
