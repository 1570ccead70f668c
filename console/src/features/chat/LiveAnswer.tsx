/** A question and its answer while it is said. */
import { FileText, RotateCw, Square } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { lazyPart } from '@/app/lazily';
import { useLanguage, type MessageKey } from '@/i18n/language';
import { Button } from '@/ui/Button';
import { Problem } from '@/ui/Problem';
import { isOver, mayGoOn, type Answer } from './answer';
import { FileLink } from './Chips';
import { Message, Thinking } from './Message';
import type { LiveTurn } from './turn';

const Steps = lazyPart(() => import('./Steps'));
const Approvals = lazyPart(() => import('./Approvals'));

export const useAnswer = (turn: LiveTurn): Answer => useSyncExternalStore(turn.subscribe, turn.current);

export function LiveAnswer({ answer, turn }: { answer: Answer; turn: LiveTurn }) {
  const { t } = useLanguage();
  const { state, question, files, steps, text, thinking, usage, error, finish, stop, refusal, approvals } = answer;
  const waiting = state === 'waiting';
  const answering = !waiting && !isOver(answer);
  return (
    <div data-testid="live" data-state={state} className="grid min-w-0 gap-5">
      {question && (
        <Message role="user" text={question}>
          {files.length > 0 && files.map(({ id, name }) => name === '' ? <FileLink key={id} id={id} /> : (
            <span key={id} className="inline-flex h-8 max-w-64 items-center gap-1.5 rounded-md border border-line bg-surface px-2 text-sm">
              <FileText size={14} className="shrink-0 text-muted" aria-hidden />
              <span data-raw className="truncate">{name}</span>
            </span>
          ))}
        </Message>
      )}
      {thinking && <Thinking text={thinking} open={answering && !text} />}
      {(steps.length > 0 || stop) && <Steps steps={steps} stop={stop} refusal={refusal} />}
      {text && (
        <Message
          role="assistant"
          text={text}
          growing={answering}
          usage={usage}
          cut={finish === 'length' || finish === 'stopped' ? finish : null}
        />
      )}
      <p role="status" className="sr-only">{waiting && t('chat.approval_title', { n: approvals.length })}</p>
      {waiting && <Approvals approvals={approvals} error={error} onDecide={(decisions) => void turn.decide(decisions)} />}
      {answering && (
        <div className="flex items-center gap-3">
          <p role="status" className="text-sm text-muted">{t(progressOf(answer))}</p>
          {state === 'answering' && (
            <Button size="small" onClick={() => void turn.stop()}>
              <Square size={12} aria-hidden />
              {t('chat.stop')}
            </Button>
          )}
        </div>
      )}
      {!waiting && <After answer={answer} />}
      {mayGoOn(answer) && (
        <div className="flex flex-wrap items-center gap-3">
          <Button onClick={() => void turn.goOn()}>
            <RotateCw size={16} aria-hidden />
            {t('chat.go_on')}
          </Button>
          <span className="text-sm text-muted">{t('chat.go_on_more')}</span>
        </div>
      )}
    </div>
  );
}

function progressOf({ state, text, thinking, steps }: Answer): MessageKey {
  if (state === 'reading') return 'chat.reading';
  if (text || thinking) return 'chat.answering';
  return steps.length ? 'chat.working' : 'chat.waiting';
}

/** What is to be said about an answer besides itself; also once it is in the conversation. */
export function After({ answer: { error, schemaError } }: { answer: Answer }) {
  const { rich } = useLanguage();
  return (
    <>
      {schemaError && (
        <div role="alert" className="rounded-lg bg-warning-soft px-3 py-2.5 text-warning">
          {rich(schemaError.path ? 'chat.schema_error' : 'chat.schema_error_whole', {
            path: schemaError.path,
            message: schemaError.message,
            code: (parts) => <code key="at" data-raw className="font-mono text-xs break-all">{parts}</code>,
          })}
        </div>
      )}
      {error && <Problem error={error} />}
    </>
  );
}
