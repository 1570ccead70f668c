/** Asks for one limit: of what, over which time, how much. A limit of the same kind replaces the one before. */
import { useState, type FormEvent } from 'react';
import type { Schemas } from '@/api/client';
import { DIMENSIONS, WINDOWS, type Dimension, type Span } from '@/api/companies';
import { useLanguage } from '@/i18n/language';
import { Button } from '@/ui/Button';
import { SelectField, TextField } from '@/ui/Field';
import { dimensionKey } from '@/ui/Meter';
import { Problem } from '@/ui/Problem';

export type LimitChange = Schemas['LimitChange'];

export function LimitForm({ busy, error, onLimit }: { busy: boolean; error: Error | null; onLimit: (limit: LimitChange) => void }) {
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
        <SelectField label={t('companies.dimension')} name="dimension">
          {DIMENSIONS.map((one) => <option key={one} value={one}>{t(dimensionKey(one))}</option>)}
        </SelectField>
        <SelectField label={t('companies.window')} name="window" defaultValue="day">
          {WINDOWS.map((one) => <option key={one} value={one}>{t(`companies.window_${one}`)}</option>)}
        </SelectField>
        <TextField
          label={t('companies.most')}
          name="limit"
          inputMode="numeric"
          autoComplete="off"
          problem={wrong ? t('companies.most_hint') : undefined}
        />
      </div>
      <Problem error={error} />
      <div><Button type="submit" busy={busy}>{t('companies.set_limit')}</Button></div>
    </form>
  );
}
