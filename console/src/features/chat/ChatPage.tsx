/** A conversation: what was said, and the answer that is being said, also after the page was loaded again. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { ArrowLeft, FileText, SearchX } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { isRefusal } from '@/api/refusal';
import { useReadOnly } from '@/app/session';
import { useTitle } from '@/app/title';
import { useLanguage } from '@/i18n/language';
import { SkeletonRows } from '@/ui/bits';
import { buttonClass } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { Problem } from '@/ui/Problem';
import { Composer } from './Composer';
import { LiveAnswer, useAnswer } from './LiveAnswer';
import { Message } from './Message';
import { conversationQuery, wordsOf, type Conversation, type Said } from './queries';
import { LiveTurn, runningTurn } from './turn';

export default function ChatPage() {
  const { t } = useLanguage();
  const { id = '' } = useParams({ strict: false });
  const conversation = useQuery(conversationQuery(id));
  useTitle(conversation.data?.title ?? t('nav.chat'));
  const missing = isRefusal(conversation.error) && conversation.error.status === 404;
  return (
    <div className="mx-auto flex w-full max-w-3xl flex-col px-4 pt-6 pb-6 sm:px-6 lg:min-h-dvh lg:pt-8">
      {conversation.data ? (
        <Found key={id} id={id} conversation={conversation.data} />
      ) : missing ? (
        <>
          <h1 className="sr-only">{t('nav.chat')}</h1>
          <Empty
            icon={SearchX}
            title={t('chat.missing_title')}
            body={t('chat.missing_body')}
            action={<Link to="/chat" className={buttonClass()}>{t('chat.new')}</Link>}
          />
        </>
      ) : (
        <>
          <h1 className="sr-only">{t('nav.chat')}</h1>
          {conversation.error ? (
            <Problem error={conversation.error} onRetry={() => void conversation.refetch()} />
          ) : (
            <SkeletonRows label={t('app.loading')} />
          )}
        </>
      )}
    </div>
  );
}

function Found({ id, conversation }: { id: string; conversation: Conversation }) {
  const { t } = useLanguage();
  const readOnly = useReadOnly();
  const [turn, setTurn] = useTurn(id);
  const [ended, setEnded] = useState<LiveTurn | null>(null);
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    void end.current?.scrollIntoView({ block: 'end' });
  }, [conversation.messages.length]);
  return (
    <>
      <Link to="/chat" className="mb-3 inline-flex h-7 w-fit items-center gap-1.5 text-sm text-muted hover:text-text lg:hidden">
        <ArrowLeft size={14} aria-hidden />
        {t('chat.conversations')}
      </Link>
      <div className="flex items-start gap-3">
        <h1 data-raw className="min-w-0 flex-1 text-2xl font-semibold break-words">{conversation.title}</h1>
        <Link to="/files/$id" params={{ id }} className={buttonClass('default', 'small')}>
          <FileText size={14} aria-hidden />
          {t('chat.as_file')}
        </Link>
      </div>
      <div className="grid flex-1 content-start gap-5 py-6">
        {conversation.messages.map((said, at) => (
          <Message key={at} role={said.role} text={wordsOf(said)} usage={said.usage} />
        ))}
        {turn && <Live turn={turn} id={id} messages={conversation.messages} onEnd={setEnded} />}
        <div ref={end} />
      </div>
      {!readOnly && <Composer busy={turn !== null && ended !== turn} onAsk={(prompt) => setTurn(LiveTurn.ask(prompt, id))} />}
    </>
  );
}

/** The turn that answers here, if there is one; left with the page, and it goes on. */
function useTurn(id: string): [LiveTurn | null, (turn: LiveTurn | null) => void] {
  const [turn, setTurn] = useState<LiveTurn | null>(() => {
    const running = runningTurn(id);
    return running && LiveTurn.resume(running);
  });
  useEffect(() => () => turn?.leave(), [turn]);
  return [turn, setTurn];
}

interface LiveProps {
  turn: LiveTurn;
  id: string;
  messages: Said[];
  onEnd: (turn: LiveTurn) => void;
}

/** The answer as it is said; once it is in the conversation, it is shown from there. */
function Live({ turn, id, messages, onEnd }: LiveProps) {
  const queries = useQueryClient();
  const answer = useAnswer(turn);
  const { state, text } = answer;
  const ended = state === 'done' || state === 'failed';
  useEffect(() => {
    if (!ended) return;
    onEnd(turn);
    for (const queryKey of [['files'], ['chat', id]]) void queries.invalidateQueries({ queryKey });
  }, [ended, turn, id, queries, onEnd]);
  useEffect(() => {
    // A reader who has scrolled up is left where they are.
    const below = document.documentElement.scrollHeight - innerHeight - scrollY;
    if (below < 240) scrollTo({ top: document.documentElement.scrollHeight });
  }, [text]);
  if (messages.some((said) => said.turn === answer.turn)) return <Problem error={answer.error} />;
  return <LiveAnswer answer={answer} onStop={state === 'answering' ? () => turn.stop() : undefined} />;
}
