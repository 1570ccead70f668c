/** Where a question is written; Enter sends it, Shift and Enter begin a new line. */
import clsx from 'clsx';
import { Braces, Paperclip, SendHorizontal } from 'lucide-react';
import { useEffect, useId, useRef, useState } from 'react';
import { lazyPart } from '@/app/lazily';
import { useIdentity } from '@/app/session';
import { useLanguage } from '@/i18n/language';
import { Button } from '@/ui/Button';
import { Switch } from '@/ui/Switch';
import { toast } from '@/ui/toast';
import { useAttachments } from './attachments';
import { Chosen } from './Chips';
import { formatFor } from './format';
import { chooseTools, usesTools } from './tools';
import type { Question } from './turn';

const SchemaEditor = lazyPart(() => import('./SchemaEditor'));
const OPTION = 'inline-flex h-8 items-center gap-1.5 rounded-md px-2 text-sm text-muted hover:bg-raised hover:text-text';

interface Props {
  conversation: string;
  busy: boolean;
  /** Out of the way of something more important; what was written stays. */
  hidden?: boolean;
  onAsk: (question: Question) => void;
}

export function Composer({ conversation, busy, hidden = false, onAsk }: Props) {
  const { t } = useLanguage();
  const id = useId();
  const mayUseTools = useIdentity().features.includes('agent');
  const [tools, setTools] = useState(() => usesTools(conversation));
  const [text, setText] = useState('');
  const [schema, setSchema] = useState<string | null>(null);
  const attached = useAttachments();
  const field = useRef<HTMLTextAreaElement>(null);
  useDropped(attached.add);
  const uploading = attached.list.some(({ state }) => state !== 'done');
  const idle = busy || uploading || !text.trim();
  const send = () => {
    if (idle) return;
    const found = schema === null ? { format: null } : formatFor(schema);
    if ('problem' in found) return toast(t(found.problem));
    const files = attached.list.flatMap(({ object, file }) => (object ? [{ id: object.id, name: file.name }] : []));
    onAsk({ text: text.trim(), files, tools: mayUseTools && tools, format: found.format });
    setText('');
    attached.clear();
    field.current?.focus();
  };
  return (
    <form
      hidden={hidden}
      className="sticky bottom-0 bg-bg pt-2 pb-2 max-md:bottom-14"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {schema !== null && <SchemaEditor schema={schema} onChange={setSchema} />}
      <Chosen {...attached} />
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
        <Button type="submit" kind="primary" disabled={idle} aria-label={t('chat.send')}>
          <SendHorizontal size={16} aria-hidden />
        </Button>
      </div>
      <div className="mt-1.5 flex flex-wrap items-center gap-x-1 gap-y-1">
        <PickFiles onFiles={attached.add} />
        <button
          type="button"
          aria-pressed={schema !== null}
          onClick={() => setSchema(schema === null ? '' : null)}
          className={clsx(OPTION, schema !== null && 'bg-accent-soft text-link')}
        >
          <Braces size={15} aria-hidden />
          {t('chat.as_json')}
        </button>
        {mayUseTools && (
          <span className="ms-auto flex items-center gap-2 text-sm">
            <span aria-hidden>{t('chat.use_tools')}</span>
            <Switch
              on={tools}
              label={t('chat.use_tools')}
              onChange={(on) => {
                setTools(on);
                chooseTools(conversation, on);
              }}
            />
          </span>
        )}
      </div>
    </form>
  );
}

function PickFiles({ onFiles }: { onFiles: (files: readonly File[]) => void }) {
  const { t } = useLanguage();
  return (
    <label className={clsx(OPTION, 'focus-within:outline-2 focus-within:outline-accent')}>
      <Paperclip size={15} aria-hidden />
      {t('chat.attach')}
      <input
        type="file"
        multiple
        className="sr-only"
        onChange={(event) => {
          if (event.target.files?.length) onFiles([...event.target.files]);
          event.target.value = '';
        }}
      />
    </label>
  );
}

/** Files may be dropped anywhere on the page. */
function useDropped(take: (files: readonly File[]) => void): void {
  useEffect(() => {
    const carries = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;
    const over = (event: DragEvent) => carries(event) && event.preventDefault();
    const drop = (event: DragEvent) => {
      if (!carries(event)) return;
      event.preventDefault();
      const files = [...event.dataTransfer!.files];
      if (files.length) take(files);
    };
    addEventListener('dragover', over);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', over);
      removeEventListener('drop', drop);
    };
  }, [take]);
}
