import { useState, type FormEvent } from 'react';
import { useLanguage } from '@/i18n/language';
import { Card } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { SelectField, TextField } from '@/ui/Field';
import { Problem } from '@/ui/Problem';
import { toast } from '@/ui/toast';
import { useChange, type Company } from './companies';
import { PlanOptions } from './PlanOptions';

export function NameAndPlan({ company }: { company: Company }) {
  const { t } = useLanguage();
  const [name, setName] = useState(company.name);
  const [plan, setPlan] = useState(company.plan);
  const change = useChange(company, ({ kept_limits }) =>
    toast(kept_limits.length ? t('companies.plan_kept', { n: kept_limits.length }) : t('companies.saved')),
  );
  const renamed = name.trim() !== company.name;
  const replanned = plan !== company.plan;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate({ ...(renamed ? { name: name.trim() } : {}), ...(replanned ? { plan } : {}) });
  };
  return (
    <Card className="p-5">
      <h2 className="mb-3 text-lg font-semibold">{t('companies.name_and_plan')}</h2>
      <form noValidate className="grid gap-4" onSubmit={submit}>
        <TextField
          label={t('companies.name')}
          value={name}
          maxLength={200}
          onChange={(event) => setName(event.target.value)}
          autoComplete="off"
          problem={name.trim() ? undefined : t('ui.needed')}
        />
        <SelectField
          label={t('company.plan')}
          value={plan}
          onChange={(event) => setPlan(event.target.value)}
          hint={t(replanned ? 'companies.plan_warning' : 'companies.plan_hint')}
        >
          <PlanOptions />
        </SelectField>
        <Problem error={change.error} />
        <div>
          <Button type="submit" kind="primary" busy={change.isPending} disabled={!name.trim() || (!renamed && !replanned)}>
            {t('ui.save')}
          </Button>
        </div>
      </form>
    </Card>
  );
}
