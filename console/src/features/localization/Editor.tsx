/** One message: its source on one side, its text on the other, with what is wrong about it as it is written. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Send } from 'lucide-react';
import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { isRefusal } from '@/api/refusal';
import { useIdentity, useMay, useReadOnly } from '@/app/session';
import { useLanguage } from '@/i18n/language';
import { Card, Kbd } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { Problem } from '@/ui/Problem';
import { toast } from '@/ui/toast';
import { About } from './About';
import { CheckList } from './CheckList';
import { checksOf } from './checks';
import { chipsOf, insert, type Chip } from './chips';
import { Conflict } from './Conflict';
import { History } from './History';
import { addUnsent, dropText, dropUnsent, keepText, readText } from './kept';
import { messageQuery, showMessage, submitText, type Message } from './queries';

interface Props {
  message: Message;
  /** The list it stands in, for what comes next. */
  near: Message[];
  onOpen: (message: Message) => void;
}

/** What the server has: a proposal, else what is served or drafted. */
const sentOf = ({ pending, text }: Message): string => pending?.text ?? text ?? '';

/** The next one that waits for a text, else the next one. */
function nextOf(near: Message[], message: Message): Message | undefined {
  const after = near.slice(near.findIndex((one) => one.id === message.id) + 1);
  return after.find((one) => one.pending === null) ?? after[0];
}

export function Editor({ message, near, onOpen }: Props) {
  const { t } = useLanguage();
  const may = useMay();
  const readOnly = useReadOnly();
  const writes = may('localization:translate') && !readOnly;
  const { user } = useIdentity();
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState(() => readText(user.id, message) ?? sentOf(message));
  const checks = useMemo(() => checksOf(message.source, text, message.locale, message.max_length), [message, text]);
  const chips = useMemo(() => chipsOf(message.source, message.locale), [message.source, message.locale]);
  const advance = () => {
    const next = nextOf(near, message);
    if (next) onOpen(next);
    else toast(t('localization.last_one'));
  };
  const save = useSave(message, advance);
  const blocked = checks.some(({ level }) => level === 'error');
  const send = () => {
    if (!blocked && !save.isPending) save.mutate(text);
  };
  useEffect(() => {
    field.current?.focus({ preventScroll: true });
  }, []);
  const write = (now: string) => {
    setText(now);
    keepText(user.id, message, now, sentOf(message));
  };
  const use = (former: string) => {
    write(former);
    field.current?.focus();
  };
  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    const chip = event.altKey ? chips[Number(event.code.replace('Digit', '')) - 1] : undefined;
    if (chip) insert(event.currentTarget, chip);
    else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send();
    else if (event.altKey && event.key === 'ArrowDown') advance();
    else return;
    event.preventDefault();
  };
  return (
    <div data-testid="editor" data-key={message.key} className="grid min-w-0 gap-4">
      <Card className="grid gap-4 p-4">
        <About message={message} />
        <div className="grid items-start gap-4 xl:grid-cols-2">
          <Source message={message} />
          <div className="min-w-0">
            <label htmlFor="translation" className="mb-1.5 block text-sm font-medium">{t('localization.translation')}</label>
            <textarea
              id="translation"
              ref={field}
              lang={message.locale}
              dir="auto"
              rows={5}
              spellCheck
              readOnly={!writes}
              aria-describedby="checks"
              aria-invalid={(text !== '' && blocked) || undefined}
              className="field h-auto resize-y py-2 leading-5"
              value={text}
              onChange={(event) => write(event.target.value)}
              onKeyDown={press}
            />
            {writes && <Chips chips={chips} onChip={(chip) => field.current && insert(field.current, chip)} />}
          </div>
        </div>
        <CheckList id="checks" checks={text === '' ? [] : checks} message={message} text={text} />
        {save.conflict ? (
          <Conflict message={message} onTake={() => write(sentOf(message))} onMine={send} />
        ) : (
          <Problem error={save.error} />
        )}
        {writes && (
          <div className="flex flex-wrap items-center gap-3">
            <Button kind="primary" busy={save.isPending} disabled={blocked} onClick={send}>
              <Send size={15} aria-hidden />
              {t('localization.save_next')}
            </Button>
            <span className="text-sm text-muted max-sm:hidden"><Kbd>Ctrl</Kbd> <Kbd>Enter</Kbd></span>
            {text !== sentOf(message) && <span className="text-sm text-muted">{t('localization.kept_here')}</span>}
          </div>
        )}
        <History message={message} onUse={writes ? use : undefined} />
      </Card>
    </div>
  );
}

/** Sends a text; one that the network did not take is kept, and sent when it is there again. */
function useSave(message: Message, onDone: () => void) {
  const { t } = useLanguage();
  const { user } = useIdentity();
  const queries = useQueryClient();
  const [conflict, setConflict] = useState(false);
  const save = useMutation({
    mutationFn: (text: string) => submitText(message.id, message.revision, text),
    networkMode: 'always',
    onSuccess: (changed) => {
      dropText(user.id, message.id);
      dropUnsent(user.id, message.id);
      showMessage(queries, changed);
      setConflict(false);
      toast(t('localization.saved'), { milliseconds: 2000 });
      onDone();
    },
    onError: async (error, text) => {
      if (!isRefusal(error)) return;
      setConflict(error.status === 412);
      if (error.status === 412) {
        const now = await queries.fetchQuery({ ...messageQuery(message.locale, message.key), staleTime: 0 });
        if (now) showMessage(queries, now);
      }
      if (!error.unreachable) return;
      addUnsent(user.id, { id: message.id, locale: message.locale, key: message.key, text, revision: message.revision });
      toast(t('localization.unsent_kept'));
      onDone();
    },
  });
  return { ...save, conflict };
}

function Source({ message }: { message: Message }) {
  const { t } = useLanguage();
  return (
    <div className="min-w-0">
      <h3 className="mb-1.5 text-sm font-medium">{t('localization.source')}</h3>
      <p data-raw lang="en" dir="ltr" className="min-h-26 rounded-md bg-raised px-3 py-2 wrap-anywhere whitespace-pre-wrap">
        {message.source}
      </p>
    </div>
  );
}

function Chips({ chips, onChip }: { chips: Chip[]; onChip: (chip: Chip) => void }) {
  const { t } = useLanguage();
  if (chips.length === 0) return null;
  return (
    <ul aria-label={t('localization.chips')} className="mt-2 flex flex-wrap gap-1.5">
      {chips.map((chip, at) => (
        <li key={chip.label}>
          <Button size="small" onClick={() => onChip(chip)}>
            <code data-raw dir="ltr" className="font-mono">{chip.label}</code>
            {at < 9 && <Kbd>{`Alt ${at + 1}`}</Kbd>}
          </Button>
        </li>
      ))}
    </ul>
  );
}
