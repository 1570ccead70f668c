/** What the judge looks for, tried on answers that are made up: nothing is stored, and no sign-up is touched. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { isRefusal } from '@/api/refusal';
import { useLanguage } from '@/i18n/language';
import { Button } from '@/ui/Button';
import { Field, SelectField, TextField } from '@/ui/Field';
import { Problem } from '@/ui/Problem';
import { exampleOf } from './editing';
import type { Experience, FormField } from './experience';
import { Part } from './Part';
import { VerdictLine } from './ProspectRow';
import { trialQuery, tryJudge, type Answers } from './queries';

interface Props {
  form: Experience;
  onChange: (form: Experience) => void;
}

export function Judge({ form, onChange }: Props) {
  const { t } = useLanguage();
  return (
    <>
      <Part title={t('onboarding.by_judge')} lead={t('onboarding.judge_lead')}>
        <Field label={t('onboarding.judge_prompt')} optional={t('ui.optional')} hint={t('onboarding.judge_hint')}>
          {(wiring) => (
            <textarea
              {...wiring}
              rows={5}
              data-raw
              value={form.judge_prompt}
              onChange={(event) => onChange({ ...form, judge_prompt: event.target.value })}
              className="field h-auto py-2"
            />
          )}
        </Field>
      </Part>
      <Part title={t('onboarding.trial')} lead={t('onboarding.trial_lead')}><Trial form={form} /></Part>
    </>
  );
}

function Trial({ form }: { form: Experience }) {
  const { t } = useLanguage();
  const [given, setGiven] = useState<Answers>({});
  const start = useMutation({ mutationFn: (answers: Answers) => tryJudge(form, answers) });
  const answers = Object.fromEntries(form.fields.map((field) => [field.name, given[field.name] ?? exampleOf(field)]));
  const refused = isRefusal(start.error, 'onboarding.bad_answers') ? start.error.fields : [];
  const submit = (event: FormEvent) => {
    event.preventDefault();
    start.mutate(answers);
  };
  return (
    <form noValidate onSubmit={submit} className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <div data-raw className="grid grid-cols-[minmax(0,1fr)] gap-4">
        {form.fields.map((field) => (
          <Answer
            key={field.name}
            field={field}
            value={answers[field.name]}
            problem={refused.includes(`fields.${field.name}`) ? t('onboarding.trial_wrong') : undefined}
            onChange={(value) => setGiven({ ...given, [field.name]: value })}
          />
        ))}
      </div>
      <Problem error={start.error} />
      <div>
        <Button type="submit" busy={start.isPending} disabled={!form.judge_prompt.trim()}>
          {t('onboarding.try_judge')}
        </Button>
      </div>
      {start.data && <Outcome key={start.data} job={start.data} />}
    </form>
  );
}

interface AnswerProps {
  field: FormField;
  value: unknown;
  problem: string | undefined;
  onChange: (value: string | boolean) => void;
}

function Answer({ field, value, problem, onChange }: AnswerProps) {
  const shared = { label: field.label, problem };
  if (field.type === 'checkbox' || field.type === 'consent') {
    return (
      <div>
        <label className="flex items-start gap-2">
          <input
            type="checkbox"
            checked={value === true}
            onChange={(event) => onChange(event.target.checked)}
            className="mt-0.5 size-4 shrink-0 accent-(--accent)"
          />
          <span data-raw>{field.label}</span>
        </label>
        {problem && <p className="mt-1 text-sm text-danger">{problem}</p>}
      </div>
    );
  }
  if (field.type === 'select') {
    return (
      <SelectField {...shared} data-raw value={String(value)} onChange={(event) => onChange(event.target.value)}>
        <option value="">–</option>
        {field.options.map((one) => <option key={one} data-raw>{one}</option>)}
      </SelectField>
    );
  }
  if (field.type !== 'textarea') {
    return <TextField {...shared} data-raw value={String(value)} onChange={(event) => onChange(event.target.value)} />;
  }
  return (
    <Field {...shared}>
      {(wiring) => (
        <textarea
          {...wiring}
          rows={3}
          data-raw
          value={String(value)}
          onChange={(event) => onChange(event.target.value)}
          className="field h-auto py-2"
        />
      )}
    </Field>
  );
}

/** What the model says; it may take as long as the model takes. */
function Outcome({ job }: { job: string }) {
  const { t } = useLanguage();
  const found = useQuery(trialQuery(job));
  const { data } = found;
  const waits = !found.error && (!data || data.state === 'queued' || data.state === 'running');
  return (
    <div role="status" data-testid="trial" className="rounded-lg border border-line p-4">
      <Problem error={found.error} onRetry={() => void found.refetch()} />
      {waits && <p className="text-muted">{t(data?.alone ? 'onboarding.trial_no_worker' : 'onboarding.trial_waits')}</p>}
      {data?.verdict && <ul><VerdictLine verdict={data.verdict} /></ul>}
      {data && (data.state === 'failed' || data.state === 'cancelled') && (
        <p className="text-danger">
          {t('onboarding.trial_failed')} <span data-raw lang="en">{data.error?.message}</span>
        </p>
      )}
    </div>
  );
}
