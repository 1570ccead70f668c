/** Where a question is written; Enter sends it, Shift and Enter begin a new line. */
import { SendHorizontal } from 'lucide-react';
import { useId, useRef, useState } from 'react';
import { useLanguage } from '@/i18n/language';
import { Button } from '@/ui/Button';

export function Composer({ busy, onAsk }: { busy: boolean; onAsk: (prompt: string) => void }) {
  const { t } = useLanguage();
  const id = useId();
  const [text, setText] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  const send = () => {
    if (busy || !text.trim()) return;
    onAsk(text.trim());
    setText('');
    field.current?.focus();
  };
  return (
    <form
      className="sticky bottom-0 bg-bg pt-2 pb-2 max-md:bottom-14"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label htmlFor={id} className="sr-only">{t('chat.ask')}</label>
      <div className="flex items-end gap-2">
        <textarea
          id={id}
          ref={field}
          rows={Math.min(8, Math.max(2, text.split('\n').length))}
          value={text}
          maxLength={100_000}
          placeholder={t('chat.ask')}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            send();
          }}
          className="field h-auto min-w-0 flex-1 resize-none py-2"
        />
        <Button type="submit" kind="primary" disabled={busy || !text.trim()} aria-label={t('chat.send')}>
          <SendHorizontal size={16} aria-hidden />
        </Button>
      </div>
    </form>
  );
}
