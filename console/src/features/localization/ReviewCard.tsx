/** One text that waits for a decision. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ArrowLeft, ArrowRight, Check, Reply } from 'lucide-react';
import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { isRefusal } from '@/api/refusal';
import { useIdentity, useReadOnly } from '@/app/session';
import { useShortcuts } from '@/app/shortcuts';
import { useLanguage } from '@/i18n/language';
import { Card, Kbd } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { IconButton } from '@/ui/Overlay';
import { Problem } from '@/ui/Problem';
import { toast } from '@/ui/toast';
import { About } from './About';
import { CheckList } from './CheckList';
import { checksOf } from './checks';
import { Difference } from './Difference';
import { messageQuery, reviewText, showMessage, type Message } from './queries';

interface Props {
  message: Message;
  /** Whether there still is something to decide. */
  open: boolean;
  left: number;
  onStep: (by: number) => void;
  onDecided: () => void;
}

export function ReviewCard({ message, open, left, onStep, onDecided }: Props) {
  const { t } = useLanguage();
  const { user } = useIdentity();
  const [sendingBack, setSendingBack] = useState(false);
  const text = message.pending?.text ?? message.text ?? '';
  const checks = useMemo(() => checksOf(message.source, text, message.locale, message.max_length), [message, text]);
  const own = message.pending?.by === user.id;
  const readOnly = useReadOnly();
  const decide = useDecision(message, onDecided);
  const decides = open && !own && !readOnly;
  useShortcuts([
    { keys: 'a', label: 'localization.approve', run: () => document.getElementById('approve')?.click() },
    { keys: 'b', label: 'localization.send_back', run: () => document.getElementById('send-back')?.click() },
  ]);
  return (
    <Card className="grid gap-4 p-4">
      <div data-testid="review" data-key={message.key} className="grid gap-4">
        <div className="flex items-center justify-between gap-2">
          <p role="status" className="text-sm text-muted tnum">{t('localization.left', { n: left })}</p>
          <div className="flex">
            <IconButton id="review-previous" label={t('localization.previous')} onClick={() => onStep(-1)}>
              <ArrowLeft size={16} aria-hidden className="rtl:rotate-180" />
            </IconButton>
            <IconButton id="review-next" label={t('localization.next')} onClick={() => onStep(1)}>
              <ArrowRight size={16} aria-hidden className="rtl:rotate-180" />
            </IconButton>
          </div>
        </div>
        <About message={message} />
        <Texts message={message} text={text} />
        <CheckList checks={checks} message={message} text={text} />
      </div>
      {own && open && <p className="text-muted">{t('localization.own')}</p>}
      {!open && <p className="text-muted">{t('localization.decided')}</p>}
      <Problem error={decide.error} />
      {decides && !sendingBack && (
        <div className="flex flex-wrap gap-2">
          <Button id="approve" kind="primary" busy={decide.isPending} onClick={() => decide.mutate(null)}>
            <Check size={15} aria-hidden />
            {t('localization.approve')}
            <Kbd>A</Kbd>
          </Button>
          {message.pending && (
            <Button id="send-back" onClick={() => setSendingBack(true)}>
              <Reply size={15} aria-hidden />
              {t('localization.send_back')}
              <Kbd>B</Kbd>
            </Button>
          )}
        </div>
      )}
      {decides && sendingBack && <Comment busy={decide.isPending} onSend={decide.mutate} onCancel={() => setSendingBack(false)} />}
    </Card>
  );
}

/** Null approves, a comment sends back. */
function useDecision(message: Message, onDecided: () => void) {
  const { t, locale, switchLocale } = useLanguage();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (comment: string | null) => (comment === null ? reviewText(message, 'approve') : reviewText(message, 'send_back', comment)),
    onSuccess: (changed, comment) => {
      toast(t(comment === null ? 'localization.approved' : 'localization.sent_back'), { milliseconds: 2000 });
      onDecided();
      showMessage(queries, changed);
      // What was approved is on this screen, too.
      if (comment === null && changed.locale === locale) void switchLocale(locale);
    },
    onError: async (error) => {
      if (!isRefusal(error) || (error.status !== 412 && error.status !== 409)) return;
      const now = await queries.fetchQuery({ ...messageQuery(message.locale, message.key), staleTime: 0 });
      if (now) showMessage(queries, now);
    },
  });
}

/** Source, what is live, and what differs from it in what would be. */
function Texts({ message, text }: { message: Message; text: string }) {
  const { t } = useLanguage();
  const live = message.pending ? (message.status === 'machine' ? null : message.text) : null;
  return (
    <div className="grid items-start gap-4 sm:grid-cols-2">
      <div className="min-w-0">
        <h3 className="mb-1.5 text-sm font-medium">{t('localization.source')}</h3>
        <p data-raw lang="en" dir="ltr" className="rounded-md bg-raised px-3 py-2 wrap-anywhere whitespace-pre-wrap">{message.source}</p>
      </div>
      <div className="min-w-0">
        <h3 className="mb-1.5 text-sm font-medium">{t(live === null ? 'localization.new_text' : 'localization.difference')}</h3>
        <Difference locale={message.locale} before={live ?? ''} after={text} />
      </div>
    </div>
  );
}

function Comment({ busy, onSend, onCancel }: { busy: boolean; onSend: (comment: string) => void; onCancel: () => void }) {
  const { t } = useLanguage();
  const field = useRef<HTMLTextAreaElement>(null);
  const [comment, setComment] = useState('');
  useEffect(() => field.current?.focus(), []);
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onCancel();
    else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onSend(comment.trim());
    else return;
    event.preventDefault();
  };
  return (
    <div className="grid gap-2">
      <label htmlFor="comment" className="text-sm font-medium">{t('localization.comment')}</label>
      <textarea
        id="comment"
        ref={field}
        rows={2}
        maxLength={2000}
        className="field h-auto py-2"
        value={comment}
        onChange={(event) => setComment(event.target.value)}
        onKeyDown={press}
      />
      <div className="flex gap-2">
        <Button kind="primary" busy={busy} onClick={() => onSend(comment.trim())}>{t('localization.send_back')}</Button>
        <Button onClick={onCancel}>{t('ui.cancel')}</Button>
      </div>
    </div>
  );
}
