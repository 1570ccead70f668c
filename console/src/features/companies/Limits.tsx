import { useMutation, useQueryClient } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import { api, value, type Schemas } from '@/api/client';
import { DIMENSIONS, WINDOWS, type Dimension, type Span, type Usage } from '@/api/companies';
import { useLanguage } from '@/app/language';
import { Card } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { SelectField, TextField } from '@/ui/Field';
import { dimensionKey, Meter } from '@/ui/Meter';
import { IconButton } from '@/ui/Overlay';
import { Problem } from '@/ui/Problem';
import { toast } from '@/ui/toast';
import { companyQueryOf, type Company } from './companies';

type Change = Schemas['LimitChange'];

/** What the whole company may use; a limit of the same dimension and window replaces the one before. */
export function Limits({ company }: { company: Company }) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const set = useMutation({
    mutationFn: (body: Change) => value(api.POST('/api/orgs/{ref}/quota', { params: { path: { ref: company.slug } }, body })),
    onSuccess: (limit) => {
      void queries.invalidateQueries(companyQueryOf(company.slug));
      toast(t(limit.limit === null ? 'companies.limit_removed' : 'companies.limit_set'));
    },
  });
  return (
    <Card>
      <div className="border-b border-line px-5 py-3.5"><h2 className="text-lg font-semibold">{t('company.limits')}</h2><p className="text-sm text-muted">{t('companies.limits_lead')}</p></div>
      <ul>{company.usage.map((line) => <LimitRow key={line.dimension + line.window} line={line} busy={set.isPending} onRemove={() => set.mutate({ dimension: line.dimension, window: line.window, limit: null })} />)}</ul>
      <div className="border-t border-line p-5"><LimitForm busy={set.isPending} error={set.error} onLimit={set.mutate} /></div>
    </Card>
  );
}

function LimitRow({ line, busy, onRemove }: { line: Usage; busy: boolean; onRemove: () => void }) {
  const { t } = useLanguage();
  const name = t(dimensionKey(line.dimension));
  return (
    <li className="flex items-start gap-2 border-b border-line py-4 ps-5 pe-3 last:border-0">
      <div className="grid min-w-0 flex-1 gap-x-8 gap-y-2 sm:grid-cols-[11rem_minmax(0,1fr)]"><h3 className="font-medium">{name}</h3><Meter line={line} label={name} /></div>
      {line.limit === null ? <span className="w-8" /> : <IconButton label={t('companies.remove_limit', { name, window: t(`usage.window_${line.window}`) })} disabled={busy} onClick={onRemove} className="-mt-1"><X size={15} aria-hidden /></IconButton>}
    </li>
  );
}

function LimitForm({ busy, error, onLimit }: { busy: boolean; error: Error | null; onLimit: (limit: Change) => void }) {
  const { t } = useLanguage();
  const [wrong, setWrong] = useState(false);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const typed = String(form.get('limit')).trim();
    const valid = /^\d{1,15}$/.test(typed);
    setWrong(!valid);
    if (valid) onLimit({ dimension: form.get('dimension') as Dimension, window: form.get('window') as Span, limit: Number(typed) });
  };
  return (
    <form noValidate onSubmit={submit} className="grid gap-4">
      <h3 className="font-medium">{t('companies.set_limit')}</h3>
      <div className="grid items-start gap-4 sm:grid-cols-[minmax(0,1.4fr)_minmax(0,1fr)_minmax(0,1fr)]">
        <SelectField label={t('companies.dimension')} name="dimension">{DIMENSIONS.map((one) => <option key={one} value={one}>{t(dimensionKey(one))}</option>)}</SelectField>
        <SelectField label={t('companies.window')} name="window" defaultValue="day">{WINDOWS.map((one) => <option key={one} value={one}>{t(`companies.window_${one}`)}</option>)}</SelectField>
        <TextField label={t('companies.most')} name="limit" inputMode="numeric" autoComplete="off" problem={wrong ? t('companies.most_hint') : undefined} />
      </div>
      <Problem error={error} />
      <div><Button type="submit" busy={busy}>{t('companies.set_limit')}</Button></div>
    </form>
  );
}
