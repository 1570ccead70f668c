/** What a trigger waits for and what it starts, and a rehearsal on the files that came last. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { FlaskConical } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import { isRefusal } from '@/api/refusal';
import { useMay } from '@/app/session';
import { useLanguage } from '@/i18n/language';
import { Card, Code } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { SelectField, TextField } from '@/ui/Field';
import type { FormOf } from '@/ui/FormDialog';
import { Problem } from '@/ui/Problem';
import { InputField } from './InputField';
import { toldIn } from './problems';
import { Reach } from './Reach';
import { rehearse, workflowNamesQuery, workflowQuery } from './server';
import type { DeclaredInput, Rehearsal, TriggerDraft } from './shapes';
import { FACTS, givingOf, inputOf, type FileFact, type Giving, type Givings } from './trigger-input';
import { reasonWords, typesIn } from './trigger-words';

interface Props extends FormOf<TriggerDraft> {
  /** Of a trigger that exists. */
  id: string | null;
  first: TriggerDraft;
  action: string;
}

export function TriggerForm({ id, first, action, busy, error, onSubmit, onClose }: Props) {
  const { t } = useLanguage();
  const may = useMay();
  const workflows = useQuery(workflowNamesQuery);
  const [draft, setDraft] = useState(first);
  const [types, setTypes] = useState(first.match_types.join(', '));
  const [givings, setGivings] = useState<Givings>({});
  const [tried, setTried] = useState(false);
  const rehearsal = useMutation({ mutationFn: (body: TriggerDraft) => rehearse(id, body) });
  const set = (change: Partial<TriggerDraft>) => setDraft({ ...draft, ...change });
  const workflow = useQuery({ ...workflowQuery(draft.workflow_slug), enabled: draft.workflow_slug !== '' });
  const chosen = workflows.data?.find(({ slug }) => slug === draft.workflow_slug);
  const declared = chosen?.inputs ?? {};
  const all = Object.fromEntries(Object.keys(declared).map((name) => [name, givings[name] ?? givingOf(name, first.input)]));
  const { input, problems } = inputOf(declared, all);
  const { types: match_types, wrong } = typesIn(types);
  const told = new Map(
    [...toldIn(error), ...toldIn(rehearsal.error)].map(({ path, message }) => [String(path).split('/')[2] ?? '', String(message)]),
  );
  const checked = (then: (body: TriggerDraft) => void) => () => {
    setTried(true);
    if (chosen && !wrong && Object.keys(problems).length === 0) then({ ...bodyOf(draft), match_types, input });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    checked(onSubmit)();
  };
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_24rem]">
      <Card className="p-5">
        <form noValidate className="grid gap-4" onSubmit={submit}>
          <SelectField
            label={t('triggers.workflow')}
            value={draft.workflow_slug}
            problem={tried && workflows.data && !chosen ? t('triggers.workflow_needed') : undefined}
            // What may be sent elsewhere is allowed for one workflow and what it is given.
            onChange={(event) => set({ workflow_slug: event.target.value, allow_egress: false })}
          >
            <option value="">{t('workflows.choose')}</option>
            {workflows.data?.map(({ slug, title }) => <option key={slug} value={slug} data-raw>{title || slug}</option>)}
          </SelectField>
          <TextField
            label={t('triggers.name')}
            optional={t('ui.optional')}
            maxLength={100}
            autoComplete="off"
            value={draft.name}
            onChange={(event) => set({ name: event.target.value })}
          />
          <TextField
            label={t('triggers.prefix')}
            optional={t('ui.optional')}
            hint={t('triggers.prefix_hint')}
            maxLength={1023}
            autoComplete="off"
            spellCheck={false}
            value={draft.match_prefix}
            onChange={(event) => set({ match_prefix: event.target.value })}
          />
          <TextField
            label={t('triggers.types')}
            optional={t('ui.optional')}
            hint={t('triggers.types_hint')}
            problem={wrong ? t('triggers.type_wrong', { type: wrong }) : undefined}
            autoComplete="off"
            spellCheck={false}
            value={types}
            onChange={(event) => setTypes(event.target.value)}
          />
          {Object.entries(declared).map(([name, one]) => (
            <Given
              key={name}
              name={name}
              declared={one}
              giving={all[name]!}
              problem={tried && problems[name] ? t(problems[name]) : told.get(name)}
              onGive={(giving) => {
                setGivings({ ...givings, [name]: giving });
                set({ allow_egress: false });
              }}
            />
          ))}
          <Check
            checked={draft.fire_on_derived}
            onCheck={(fire_on_derived) => set({ fire_on_derived })}
            words={t('triggers.derived')}
            more={t('triggers.derived_more')}
          />
          <Check
            checked={draft.enabled}
            onCheck={(enabled) => set({ enabled })}
            words={t('triggers.enabled')}
            more={t('triggers.enabled_more')}
          />
          <Check
            checked={draft.allow_egress}
            disabled={!may('settings:manage')}
            onCheck={(allow_egress) => set({ allow_egress })}
            words={t('triggers.egress')}
            more={t(may('settings:manage') ? 'triggers.egress_more' : 'triggers.egress_admin')}
          />
          {workflow.data && <Reach workflow={workflow.data} lead={t('triggers.egress_reach')} />}
          <Problem error={isRefusal(error, 'triggers.bad_input') && told.size > 0 ? null : error} />
          <div className="flex flex-wrap justify-end gap-2 border-t border-line pt-4">
            <Button onClick={onClose}>{t('ui.cancel')}</Button>
            <Button type="submit" kind="primary" busy={busy}>{action}</Button>
          </div>
        </form>
      </Card>
      <Card className="p-5">
        <h2 className="font-semibold">{t('triggers.rehearsal')}</h2>
        <p className="mt-1 mb-3 text-sm text-muted">{t('triggers.rehearsal_more')}</p>
        <Button busy={rehearsal.isPending} onClick={checked(rehearsal.mutate)}>
          <FlaskConical size={15} aria-hidden />
          {t('triggers.rehearse')}
        </Button>
        <div className="mt-3 grid gap-3">
          <Problem error={rehearsal.error} />
          {rehearsal.data && <Rehearsed found={rehearsal.data} />}
        </div>
      </Card>
    </div>
  );
}

/** What of a trigger can be changed. */
const bodyOf = ({
  workflow_slug,
  name,
  match_prefix,
  match_types,
  input,
  fire_on_derived,
  enabled,
  allow_egress,
}: TriggerDraft): TriggerDraft => ({
  workflow_slug,
  name: name.trim(),
  match_prefix,
  match_types,
  input,
  fire_on_derived,
  enabled,
  allow_egress,
});

interface GivenProps {
  name: string;
  declared: DeclaredInput;
  giving: Giving;
  problem: string | undefined;
  onGive: (giving: Giving) => void;
}

/** A text can be taken from the file that arrives; anything else is fixed. */
function Given({ name, declared, giving, problem, onGive }: GivenProps) {
  const { t } = useLanguage();
  const isText = declared.type === 'string';
  return (
    <div className="grid gap-2 rounded-lg border border-line p-3">
      {isText && (
        <div data-raw>
          <SelectField
            label={name}
            hint={giving.fact ? declared.description || undefined : undefined}
            problem={giving.fact ? problem : undefined}
            value={giving.fact ?? ''}
            onChange={(event) => onGive({ ...giving, fact: (event.target.value || null) as FileFact | null })}
          >
            {FACTS.map((fact) => <option key={fact} value={fact}>{t(`triggers.fact_${fact.slice('object.'.length) as 'id'}`)}</option>)}
            <option value="">{t('triggers.fixed')}</option>
          </SelectField>
        </div>
      )}
      {giving.fact === null && (
        <InputField
          name={isText ? t('triggers.fixed_value') : name}
          declared={declared}
          text={giving.text}
          problem={problem}
          onText={(text) => onGive({ fact: null, text })}
        />
      )}
    </div>
  );
}

interface CheckProps {
  checked: boolean;
  disabled?: boolean;
  onCheck: (on: boolean) => void;
  words: string;
  more: string;
}

function Check({ checked, disabled = false, onCheck, words, more }: CheckProps) {
  return (
    <label className="flex items-start gap-2.5">
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onCheck(event.target.checked)}
        className="mt-0.5 size-4 shrink-0 accent-(--accent)"
      />
      <span><span className="block font-medium">{words}</span><span className="block text-sm text-muted">{more}</span></span>
    </label>
  );
}

function Rehearsed({ found }: { found: Rehearsal }) {
  const language = useLanguage();
  const { t, number } = language;
  const shown = [...found.items].sort((one, other) => Number(other.would) - Number(one.would)).slice(0, 20);
  return (
    <div role="status" data-testid="rehearsal" className="grid gap-2">
      <p className="font-medium">
        {found.checked === 0 ? t('triggers.no_uploads') : t('triggers.would_fire', { n: number(found.would_fire), all: found.checked })}
      </p>
      <ul className="max-h-80 divide-y divide-line overflow-y-auto" tabIndex={0} aria-label={t('triggers.rehearsal')}>
        {shown.map((one) => (
          <li key={one.version.id} className="py-1.5 text-sm">
            <Code>{one.key}</Code>
            <span className={`block ${one.would ? 'text-success' : 'text-muted'}`}>
              {one.would ? t('triggers.would') : reasonWords(language, one.reason)}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
