/** A question and its answer while it is said. */
import { Square } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { useLanguage } from '@/i18n/language';
import { Button } from '@/ui/Button';
import { Problem } from '@/ui/Problem';
import { Message, Thinking } from './Message';
import type { Answer, LiveTurn } from './turn';

export const useAnswer = (turn: LiveTurn): Answer => useSyncExternalStore(turn.subscribe, turn.current);

export function LiveAnswer({ answer, onStop }: { answer: Answer; onStop?: (() => Promise<void>) | undefined }) {
  const { t } = useLanguage();
  const { state, question, text, thinking, usage, error, finish } = answer;
  const answering = state === 'asking' || state === 'answering';
  return (
    <div data-testid="live" data-state={state} className="grid gap-5">
      {question && <Message role="user" text={question} />}
      {thinking && <Thinking text={thinking} open={answering && !text} />}
      {text && <Message role="assistant" text={text} usage={usage} cut={finish === 'length' || finish === 'stopped' ? finish : null} />}
      {answering && (
        <div className="flex items-center gap-3">
          <p role="status" className="text-sm text-muted">{t(text || thinking ? 'chat.answering' : 'chat.waiting')}</p>
          {onStop && (
            <Button size="small" onClick={() => void onStop()}>
              <Square size={12} aria-hidden />
              {t('chat.stop')}
            </Button>
          )}
        </div>
      )}
      {error && <Problem error={error} />}
    </div>
  );
}
