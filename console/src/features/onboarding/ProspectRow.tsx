/** One sign-up: a line that opens into everything that is known about it. */
import clsx from 'clsx';
import { ChevronRight } from 'lucide-react';
import { useId, type ReactNode } from 'react';
import { OPERATOR, useMay } from '@/app/session';
import { languageName, useLanguage } from '@/i18n/language';
import { Badge, Code, Kbd, type Tone } from '@/ui/bits';
import { Button, type ButtonKind } from '@/ui/Button';
import { addressOf, deedsFor, type DeedKind } from './deeds';
import type { FormField } from './experience';
import type { Answers, Prospect, Signal, State, Verdict, VerdictName } from './queries';

const STATE_TONES: Record<State, Tone> = { captured: 'info', accepted: 'success', declined: 'neutral' };
const VERDICT_TONES: Record<VerdictName, Tone> = {
  pass: 'neutral',
  suspect: 'warning',
  promising: 'success',
  unsure: 'neutral',
  unfit: 'danger',
};

interface Props {
  prospect: Prospect;
  fields: FormField[];
  open: boolean;
  onToggle: () => void;
  onDeed: (kind: DeedKind) => void;
}

export function ProspectRow({ prospect, fields, open, onToggle, onDeed }: Props) {
  const { t, ago } = useLanguage();
  const id = useId();
  const said = prospect.verdicts.filter(({ verdict }) => verdict !== null && verdict !== 'pass');
  return (
    <li data-prospect={prospect.id} data-testid="prospect" data-state={prospect.state} className="border-b border-line last:border-0">
      <button
        type="button"
        data-row
        aria-expanded={open}
        aria-controls={id}
        onClick={onToggle}
        className="flex w-full flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2.5 text-start -outline-offset-2 hover:bg-raised"
      >
        <ChevronRight size={16} aria-hidden className={clsx('shrink-0 text-muted transition', open ? 'rotate-90' : 'rtl:rotate-180')} />
        <span className="min-w-0 flex-1 basis-48">
          <span data-raw className="block truncate font-medium">{addressOf(prospect.fields)}</span>
          <span className="block text-sm text-muted">{ago(prospect.created_at)}</span>
        </span>
        <span className="flex flex-wrap gap-1.5">
          {said.map((one) => <VerdictBadge key={one.by} verdict={one} />)}
          <Badge tone={STATE_TONES[prospect.state]}>{t(`onboarding.state_${prospect.state}`)}</Badge>
        </span>
      </button>
      <div id={id} hidden={!open} data-testid="prospect-detail">
        {open && <Detail prospect={prospect} fields={fields} onDeed={onDeed} />}
      </div>
    </li>
  );
}

function Detail({ prospect, fields, onDeed }: Omit<Props, 'open' | 'onToggle'>) {
  const { t, dateTime, rich } = useLanguage();
  const code = (parts: ReactNode) => <b key="who" data-raw className="font-medium">{parts}</b>;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-5 px-4 pt-1 pb-5 sm:ps-11">
      <p className="text-sm text-muted">
        {t('onboarding.came', { at: dateTime(prospect.created_at), language: languageName(prospect.locale) })}
      </p>
      <Part title={t('onboarding.answers')}><AnswerList answers={prospect.fields} fields={fields} /></Part>
      {prospect.later.length > 0 && (
        <Part title={t('onboarding.later')}>
          {prospect.later.map((answers, at) => (
            <div key={at} className="border-s-2 border-line ps-3"><AnswerList answers={answers} fields={fields} /></div>
          ))}
        </Part>
      )}
      <Part title={t('onboarding.signals')}>
        {prospect.signals.length === 0
          ? <p className="text-muted">{t('onboarding.signals_none')}</p>
          : <ul className="grid gap-2">{prospect.signals.map((one) => <SignalLine key={one.name} signal={one} />)}</ul>}
      </Part>
      <Part title={t('onboarding.verdicts')}>
        <ul className="grid gap-3">{prospect.verdicts.map((one) => <VerdictLine key={one.by} verdict={one} />)}</ul>
      </Part>
      {prospect.decided && (
        <Part title={t('onboarding.decision')}>
          <p data-testid="decided">
            {rich(`onboarding.decided_${prospect.decided.decision}`, {
              who: prospect.decided.by.username ?? '–',
              at: dateTime(prospect.decided.at),
              b: code,
            })}
          </p>
          {prospect.decided.note && <p data-raw className="break-words whitespace-pre-wrap text-muted">{prospect.decided.note}</p>}
        </Part>
      )}
      <Deeds prospect={prospect} onDeed={onDeed} />
    </div>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <h3 className="text-sm font-semibold">{title}</h3>
      {children}
    </section>
  );
}

/** By the form's own labels, as they are now; an answer to a field that is gone keeps its name. */
function AnswerList({ answers, fields }: { answers: Answers; fields: FormField[] }) {
  const { t } = useLanguage();
  return (
    <dl className="grid grid-cols-[minmax(0,1fr)] gap-x-4 gap-y-2 sm:grid-cols-[minmax(8rem,14rem)_minmax(0,1fr)]">
      {Object.entries(answers).map(([name, answer]) => (
        <div key={name} className="contents">
          <dt data-raw className="text-sm break-words text-muted">{fields.find((field) => field.name === name)?.label ?? name}</dt>
          <dd data-raw={typeof answer !== 'boolean' || undefined} className="break-words whitespace-pre-wrap">
            {typeof answer === 'boolean' ? t(answer ? 'onboarding.yes' : 'onboarding.no') : String(answer)}
          </dd>
        </div>
      ))}
    </dl>
  );
}

const MILLISECONDS = 1000;

function SignalLine({ signal: { name, value } }: { signal: Signal }) {
  const { t, number } = useLanguage();
  const told = name === 'fast' ? number(Math.round(Number(value) / (MILLISECONDS / 10)) / 10) : String(value);
  return (
    <li data-testid="signal">
      <Badge tone={name === 'late_proof' ? 'neutral' : 'warning'}>{t(`onboarding.signal_${name}`)}</Badge>
      <p className="mt-1 text-sm text-muted">{t(`onboarding.signal_${name}_means`, { value: told })}</p>
    </li>
  );
}

function VerdictBadge({ verdict: { verdict, score } }: { verdict: Verdict }) {
  const { t, number } = useLanguage();
  if (verdict === null) return <Badge>{t('onboarding.verdict_none')}</Badge>;
  return (
    <Badge tone={VERDICT_TONES[verdict]}>
      {score === null
        ? t(`onboarding.verdict_${verdict}`)
        : t('onboarding.scored', { verdict: t(`onboarding.verdict_${verdict}`), score: number(score) })}
    </Badge>
  );
}

/** The gate's reasons are the signals above; the judge's are a model's own words. */
export function VerdictLine({ verdict }: { verdict: Verdict }) {
  const { t, dateTime } = useLanguage();
  return (
    <li data-testid={`verdict-${verdict.by}`}>
      <p className="flex flex-wrap items-center gap-2">
        <span className="font-medium">{t(`onboarding.by_${verdict.by}`)}</span>
        <VerdictBadge verdict={verdict} />
        {verdict.model && <Code>{verdict.model}</Code>}
        <span className="text-sm text-muted">{dateTime(verdict.at)}</span>
      </p>
      {verdict.by === 'judge' && verdict.reasons.length > 0 && (
        <ul data-raw className="mt-1 list-disc ps-5 text-muted">
          {verdict.reasons.map((reason) => <li key={reason} className="break-words">{reason}</li>)}
        </ul>
      )}
    </li>
  );
}

const KINDS: Record<DeedKind, ButtonKind> = { accept: 'primary', invite: 'default', decline: 'danger-ghost' };

function Deeds({ prospect, onDeed }: Pick<Props, 'prospect' | 'onDeed'>) {
  const { t } = useLanguage();
  const may = useMay();
  const deeds = deedsFor(prospect, may(OPERATOR));
  if (deeds.length === 0) return null;
  return (
    <div className="flex flex-wrap gap-2">
      {deeds.map((kind) => (
        <Button key={kind} kind={KINDS[kind]} onClick={() => onDeed(kind)}>
          {t(`onboarding.${kind}`)}
          <span aria-hidden className="max-sm:hidden"><Kbd>{kind[0]?.toUpperCase()}</Kbd></span>
        </Button>
      ))}
    </div>
  );
}
