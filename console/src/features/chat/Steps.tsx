/** What the agent does: one line for each call, its details folded, and what it made. */
import { ChevronRight, CircleAlert, CircleCheck, CircleHelp, CircleSlash, CircleX, Hourglass, LoaderCircle } from 'lucide-react';
import { memo, useMemo } from 'react';
import { useLanguage, type MessageKey } from '@/i18n/language';
import { Artifact } from '@/ui/Artifact';
import { EffectBadge } from '@/ui/Effect';
import { wordsFor } from '@/ui/Problem';
import { isCall, type Answer, type Call, type CallStatus, type Stop } from './answer';
import { jsonIn } from './json';
import { Rows, Value } from './Value';
import { gist, toolName } from './words';

const RUNNING = [LoaderCircle, 'animate-spin text-muted', 'chat.status_running'] as const;
const REFUSED = [CircleSlash, 'text-warning'] as const;
const LOOKS: Record<CallStatus, readonly [typeof CircleX, string, MessageKey]> = {
  pending: RUNNING,
  approved: RUNNING,
  running: RUNNING,
  ok: [CircleCheck, 'text-success', 'chat.status_ok'],
  needs_approval: [Hourglass, 'text-warning', 'chat.status_needs_approval'],
  rejected: [...REFUSED, 'chat.status_rejected'],
  denied: [...REFUSED, 'chat.status_denied'],
  budget: [...REFUSED, 'chat.status_budget'],
  bad_arguments: [CircleAlert, 'text-warning', 'chat.status_bad_arguments'],
  timeout: [CircleX, 'text-danger', 'chat.status_timeout'],
  error: [CircleX, 'text-danger', 'chat.status_error'],
  unknown: [CircleHelp, 'text-danger', 'chat.status_unknown'],
};

const SENTENCES: Partial<Record<Stop, MessageKey>> = {
  steps: 'chat.stop_steps',
  calls: 'chat.stop_calls',
  tokens: 'chat.stop_tokens',
  seconds: 'chat.stop_seconds',
  quota: 'chat.stop_quota',
  stopped: 'chat.stop_stopped',
};

type Props = Pick<Answer, 'steps' | 'stop' | 'refusal'>;

export default memo(function Steps({ steps, stop, refusal }: Props) {
  const language = useLanguage();
  const why = stop && SENTENCES[stop];
  return (
    <div data-testid="steps" className="grid min-w-0 gap-2">
      {steps.length > 0 && (
        <ol aria-label={language.t('chat.steps')} className="grid min-w-0 gap-1.5">
          {steps.map((step, at) => (
            <li key={at} className="min-w-0">
              {isCall(step) ? <CallLine step={step} /> : <p data-raw className="text-sm break-words text-muted">{step.said}</p>}
            </li>
          ))}
        </ol>
      )}
      {why && (
        <p data-testid="stop" className="flex items-start gap-2 rounded-lg bg-info-soft px-3 py-2 text-sm text-info">
          <CircleAlert size={15} className="mt-0.5 shrink-0" aria-hidden />
          <span>{language.t(why)}{refusal && ` ${wordsFor(language, refusal)}`}</span>
        </p>
      )}
    </div>
  );
});

function CallLine({ step }: { step: Call }) {
  const language = useLanguage();
  const { t } = language;
  const [Icon, look, words] = LOOKS[step.status];
  return (
    <>
      <details data-testid="call" data-status={step.status} className="group min-w-0 rounded-lg border border-line bg-surface text-sm">
        <summary className="flex min-h-9 flex-wrap items-center gap-x-2 gap-y-1 px-3 py-1.5 -outline-offset-2">
          <Icon size={15} className={`shrink-0 ${look}`} aria-hidden />
          <span data-raw className="font-medium">{toolName(language, step.name)}</span>
          <span data-raw className="min-w-0 flex-1 basis-24 truncate text-muted">{gist(step.arguments)}</span>
          <EffectBadge effect={step.effect} />
          <span className="text-xs text-muted">{t(words)}</span>
          <ChevronRight size={14} className="shrink-0 text-muted transition-transform group-open:rotate-90" aria-hidden />
        </summary>
        <div className="grid grid-cols-[minmax(0,1fr)] gap-3 border-t border-line px-3 py-2.5">
          <section>
            <p className="mb-1 text-xs font-medium text-muted">{t('chat.call_arguments')}</p>
            <Rows facts={step.arguments} />
          </section>
          {step.result && (
            <section>
              <p className="mb-1 text-xs font-medium text-muted">{t('chat.call_result')}</p>
              <div data-raw tabIndex={0} className="max-h-64 overflow-auto wrap-anywhere whitespace-pre-wrap -outline-offset-2">
                <Result text={step.result} />
              </div>
            </section>
          )}
        </div>
      </details>
      {step.artifact && <div className="mt-1.5"><Artifact artifact={step.artifact} /></div>}
    </>
  );
}

/** Many tools answer in JSON; it is shown as what it says. */
function Result({ text }: { text: string }) {
  const json = useMemo(() => jsonIn(text), [text]);
  return json ? <Value value={json.value} /> : text;
}
