/** A conversation that has not begun: which model answers, or how to connect one. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useReadOnly } from '@/app/session';
import { useTitle } from '@/app/title';
import { useLanguage } from '@/i18n/language';
import { Problem } from '@/ui/Problem';
import { Composer } from './Composer';
import { ConnectModel } from './ConnectModel';
import { LiveAnswer, useAnswer } from './LiveAnswer';
import { modelQuery } from './queries';
import { NEW, carryTools } from './tools';
import { LiveTurn } from './turn';

export default function NewChat() {
  const { t } = useLanguage();
  const readOnly = useReadOnly();
  const model = useQuery(modelQuery);
  const [turn, setTurn] = useState<LiveTurn | null>(null);
  const [failed, setFailed] = useState<LiveTurn | null>(null);
  const busy = turn !== null && failed !== turn;
  useTitle(t('nav.chat'));
  return (
    <div className="mx-auto flex min-h-full w-full max-w-3xl flex-col px-4 pt-6 pb-6 sm:px-6 lg:min-h-dvh lg:pt-8">
      <h1 className="text-2xl font-semibold">{t('nav.chat')}</h1>
      <div className="flex-1 py-6">
        {turn ? <Begun turn={turn} onFail={setFailed} /> : <Welcome />}
      </div>
      {model.error && <Problem error={model.error} onRetry={() => void model.refetch()} />}
      {!readOnly && <Composer conversation={NEW} busy={busy} onAsk={(question) => setTurn(LiveTurn.ask(question, NEW))} />}
    </div>
  );
}

function Welcome() {
  const { t } = useLanguage();
  const { data } = useQuery(modelQuery);
  if (!data) return null;
  if (data.simulated) return <ConnectModel />;
  return (
    <p className="text-muted">
      {data.mode === 'local' && !data.model ? t('chat.answers_own') : t('chat.answers', { model: data.model ?? data.executor })}
      {data.healthy === false && <span className="ms-2 text-danger">{t('chat.silent')}</span>}
    </p>
  );
}

/** As soon as the conversation has an address, the page is there; the answer goes on. */
function Begun({ turn, onFail }: { turn: LiveTurn; onFail: (turn: LiveTurn) => void }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const answer = useAnswer(turn);
  const { conversation, state } = answer;
  useEffect(() => {
    if (state === 'failed') onFail(turn);
  }, [state, turn, onFail]);
  useEffect(() => {
    if (!conversation) return;
    carryTools(conversation);
    void queries.invalidateQueries({ queryKey: ['files'] });
    void navigate({ to: '/chat/$id', params: { id: conversation }, replace: true });
    return () => turn.leave();
  }, [conversation, navigate, queries, turn]);
  return <LiveAnswer answer={answer} turn={turn} />;
}
