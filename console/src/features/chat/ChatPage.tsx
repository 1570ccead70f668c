/** A conversation: what was said, and the answer that is being said, also after the page was loaded again. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { ArrowLeft, FileText, SearchX } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { isRefusal } from '@/api/refusal';
import { lazyPart } from '@/app/lazily';
import { useReadOnly } from '@/app/session';
import { useTitle } from '@/app/title';
import { useLanguage } from '@/i18n/language';
import { SkeletonRows } from '@/ui/bits';
import { buttonClass } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { Problem } from '@/ui/Problem';
import { isOver } from './answer';
import { FileLink } from './Chips';
import { Composer } from './Composer';
import { After, LiveAnswer, useAnswer } from './LiveAnswer';
import { Message } from './Message';
import { conversationQuery, filesOf, openTurnQuery, wordsOf, type Conversation, type OpenTurn, type Said } from './queries';
import { runQuery } from './run';
import { LiveTurn, isRun, runningTurn, type Running } from './turn';

const PastRun = lazyPart(() => import('./PastRun'));

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
  const [turn, setTurn] = useTurn(id, conversation);
  const [ended, setEnded] = useState<LiveTurn | null>(null);
  const [waiting, setWaiting] = useState(false);
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
        {conversation.messages.map((said, at) => <Stored key={at} said={said} />)}
        {turn && <Live turn={turn} id={id} messages={conversation.messages} onEnd={setEnded} onWaiting={setWaiting} />}
        <div ref={end} />
      </div>
      {!readOnly && (
        <Composer
          conversation={id}
          busy={turn !== null && ended !== turn}
          hidden={waiting}
          onAsk={(question) => setTurn(LiveTurn.ask(question, id))}
        />
      )}
    </>
  );
}

/** A message of the conversation, its files, and what the agent did after a question. */
function Stored({ said }: { said: Said }) {
  const files = filesOf(said);
  return (
    <>
      <Message role={said.role} text={wordsOf(said)} usage={said.usage}>
        {files.length > 0 && files.map((id) => <FileLink key={id} id={id} />)}
      </Message>
      {said.role === 'user' && isRun(said.turn) && <PastRun turn={said.turn!} />}
    </>
  );
}

/** The turn that answers here, if there is one, also one that was asked in another browser; left with the page, and it goes on. */
function useTurn(id: string, conversation: Conversation): [LiveTurn | null, (turn: LiveTurn | null) => void] {
  const [turn, setTurn] = useState<LiveTurn | null>(() => {
    const running = runningTurn(id);
    return running && LiveTurn.resume(running);
  });
  const { data: open } = useQuery({ ...openTurnQuery(id), enabled: turn === null });
  useEffect(() => {
    if (turn === null && open) setTurn(LiveTurn.resume(runningOf(open, conversation)));
  }, [turn, open, conversation]);
  useEffect(() => () => turn?.leave(), [turn]);
  return [turn, setTurn];
}

/** A new conversation is named after its first question, which is all that is known of one that was asked elsewhere. */
function runningOf({ id, agent, question }: OpenTurn, { title, messages }: Conversation): Running {
  if (question === null) return { turn: id, agent, question: messages.length ? '' : title };
  const asked = { content: question as Said['content'] };
  return { turn: id, agent, question: wordsOf(asked), files: filesOf(asked).map((file) => ({ id: file, name: '' })) };
}

interface LiveProps {
  turn: LiveTurn;
  id: string;
  messages: Said[];
  onEnd: (turn: LiveTurn | null) => void;
  onWaiting: (waiting: boolean) => void;
}

/** The answer as it is said; once it is in the conversation, it is shown from there. */
function Live({ turn, id, messages, onEnd, onWaiting }: LiveProps) {
  const queries = useQueryClient();
  const answer = useAnswer(turn);
  const { text } = answer;
  const ended = isOver(answer);
  useEffect(() => {
    onEnd(ended ? turn : null);
    if (!ended) return;
    const { turn: run } = turn.current();
    if (run && isRun(run)) queries.setQueryData(runQuery(run).queryKey, turn.current());
    for (const queryKey of [['files'], ['chat', id]]) void queries.invalidateQueries({ queryKey });
  }, [ended, turn, id, queries, onEnd]);
  const waiting = answer.state === 'waiting';
  useEffect(() => onWaiting(waiting), [waiting, onWaiting]);
  useEffect(() => {
    // A reader who has scrolled up is left where they are.
    const below = document.documentElement.scrollHeight - innerHeight - scrollY;
    if (below < 240) scrollTo({ top: document.documentElement.scrollHeight });
  }, [text]);
  if (messages.some((said) => said.turn === answer.turn)) return <After answer={answer} />;
  return <LiveAnswer answer={answer} turn={turn} />;
}
