/** What waits for the person: exactly what would happen, why it is asked, and the decision about every call at once. */
import { Check, Quote, ShieldQuestion, X } from 'lucide-react';
import { useEffect, useId, useRef, useState } from 'react';
import { useLanguage } from '@/i18n/language';
import { Button } from '@/ui/Button';
import { EffectBadge } from '@/ui/Effect';
import { TextField } from '@/ui/Field';
import { Problem } from '@/ui/Problem';
import type { Refusal } from '@/api/refusal';
import type { Approval } from './answer';
import type { Decision } from './turn';
import { Rows } from './Value';
import { sourceName, toolName } from './words';

interface Props {
  approvals: readonly Approval[];
  error: Refusal | null;
  onDecide: (decisions: Decision[]) => void;
}

type Choice = { approve?: boolean; note: string };
const UNDECIDED: Choice = { note: '' };

export default function Approvals({ approvals, error, onDecide }: Props) {
  const { t } = useLanguage();
  const id = useId();
  const heading = useRef<HTMLHeadingElement>(null);
  const [choices, setChoices] = useState<Readonly<Record<string, Choice>>>({});
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
    heading.current?.scrollIntoView({ block: 'start' });
  }, []);
  const choiceOf = ({ digest }: Approval): Choice => choices[digest] ?? UNDECIDED;
  const send = (chosen: (one: Approval) => Choice) =>
    onDecide(approvals.map((one) => ({
      call: one.call,
      digest: one.digest,
      approve: chosen(one).approve === true,
      note: chosen(one).approve ? '' : chosen(one).note.trim(),
    })));
  const alone = approvals.length === 1;
  const choose = (one: Approval, approve: boolean) => {
    const choice = { ...choiceOf(one), approve };
    if (alone) send(() => choice);
    else setChoices({ ...choices, [one.digest]: choice });
  };
  const left = approvals.filter((one) => choiceOf(one).approve === undefined).length;
  return (
    <section
      data-testid="approvals"
      aria-labelledby={id}
      className="grid min-w-0 gap-4 rounded-xl border-2 border-warning bg-surface p-4 shadow-card sm:p-5"
    >
      <div>
        <h2 id={id} ref={heading} tabIndex={-1} className="flex scroll-mt-20 items-center gap-2 text-lg font-semibold outline-none">
          <ShieldQuestion size={20} className="shrink-0 text-warning" aria-hidden />
          {t('chat.approval_title', { n: approvals.length })}
        </h2>
        <p className="mt-1 text-muted">{t('chat.approval_lead')}</p>
      </div>
      {error && <Problem error={error} />}
      <Why words={approvals[0]?.words ?? []} />
      {approvals.map((one) => (
        <Asked
          key={one.digest}
          approval={one}
          choice={choiceOf(one)}
          alone={alone}
          onChoose={(approve) => choose(one, approve)}
          onNote={(note) => setChoices({ ...choices, [one.digest]: { ...choiceOf(one), note } })}
        />
      ))}
      {!alone && (
        <div className="flex flex-wrap items-center justify-end gap-3">
          {left > 0 && <p className="text-sm text-muted">{t('chat.approval_left', { n: left })}</p>}
          <Button kind="primary" disabled={left > 0} onClick={() => send(choiceOf)}>{t('chat.approval_confirm')}</Button>
        </div>
      )}
    </section>
  );
}

/** The words that may be why the model asks for this, marked as others'. */
function Why({ words }: { words: Approval['words'] }) {
  const language = useLanguage();
  const { t } = language;
  return (
    <div>
      <h3 className="font-medium">{t('chat.approval_why')}</h3>
      <p className="mt-0.5 text-muted">{t('chat.approval_reason')}</p>
      <ul className="mt-2 grid gap-2">
        {words.map(({ source, words: said }, at) => (
          <li key={at} className="rounded-lg border-s-4 border-line-strong bg-raised px-3 py-2">
            <p className="flex flex-wrap items-center gap-x-1.5 text-xs font-medium">
              <Quote size={12} className="shrink-0" aria-hidden />
              {t('chat.approval_others', { source: sourceName(language, source) })}
            </p>
            {said && (
              <blockquote
                data-raw
                tabIndex={0}
                className="mt-1 max-h-32 overflow-y-auto text-sm break-words whitespace-pre-wrap -outline-offset-2"
              >
                {said}
              </blockquote>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

interface AskedProps {
  approval: Approval;
  choice: Choice;
  alone: boolean;
  onChoose: (approve: boolean) => void;
  onNote: (note: string) => void;
}

function Asked({ approval, choice, alone, onChoose, onNote }: AskedProps) {
  const language = useLanguage();
  const { t } = language;
  const id = useId();
  const pressed = (approve: boolean) => (alone ? {} : { 'aria-pressed': choice.approve === approve });
  const kindOf = (approve: boolean) => (alone ? approve : choice.approve === approve) ? 'primary' : 'default';
  return (
    <article data-testid="approval" aria-labelledby={id} className="grid min-w-0 gap-3 rounded-lg border border-line p-3 sm:p-4">
      <div className="flex flex-wrap items-center gap-2">
        <h3 id={id} data-raw className="font-medium">{toolName(language, approval.name)}</h3>
        <EffectBadge effect={approval.effect} />
        <code data-raw className="text-xs text-muted">{approval.name}</code>
      </div>
      <Rows facts={approval.arguments} />
      {(alone || choice.approve === false) && (
        <TextField
          label={t('chat.approval_note')}
          optional={t('ui.optional')}
          value={choice.note}
          maxLength={2000}
          onChange={(event) => onNote(event.target.value)}
        />
      )}
      <div className="flex flex-wrap gap-2">
        <Button kind={kindOf(true)} aria-describedby={id} {...pressed(true)} onClick={() => onChoose(true)}>
          <Check size={16} aria-hidden />
          {t('chat.approve')}
        </Button>
        <Button kind={kindOf(false)} aria-describedby={id} {...pressed(false)} onClick={() => onChoose(false)}>
          <X size={16} aria-hidden />
          {t('chat.decline')}
        </Button>
      </div>
    </article>
  );
}
