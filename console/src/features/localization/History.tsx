/** The texts that a message had before; one of them can be proposed again. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { membersQuery } from '@/api/queries';
import { useLanguage } from '@/i18n/language';
import { Button } from '@/ui/Button';
import { Problem } from '@/ui/Problem';
import { historyQuery, type Message } from './queries';

interface Props {
  message: Message;
  /** Absent where nothing can be written. */
  onUse: ((text: string) => void) | undefined;
}

export function History({ message, onUse }: Props) {
  const { t } = useLanguage();
  const [open, setOpen] = useState(false);
  return (
    <details className="border-t border-line pt-3" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="cursor-pointer font-medium">{t('localization.history')}</summary>
      {open && <Texts message={message} onUse={onUse} />}
    </details>
  );
}

function Texts({ message, onUse }: Props) {
  const { t, dateTime } = useLanguage();
  const { data, error } = useQuery(historyQuery(message));
  const members = useQuery(membersQuery);
  const nameOf = (id: string | null) => members.data?.find((one) => one.id === id)?.display_name;
  if (error) return <Problem error={error} />;
  if (data?.length === 0) return <p className="mt-2 text-muted">{t('localization.history_none')}</p>;
  return (
    <ol data-testid="history" className="mt-2 grid gap-3">
      {data?.map((one) => (
        <li key={one.replaced_at + one.was} className="grid gap-1">
          <p data-raw lang={message.locale} dir="auto" className="wrap-anywhere whitespace-pre-wrap">{one.text}</p>
          <p className="flex flex-wrap items-center gap-x-2 text-sm text-muted">
            {t('localization.history_replaced', { status: t(`localization.status_${one.was}`), when: dateTime(one.replaced_at) })}
            {nameOf(one.by) && <span data-raw>{nameOf(one.by)}</span>}
            {onUse && <Button size="small" onClick={() => onUse(one.text)}>{t('localization.history_use')}</Button>}
          </p>
        </li>
      ))}
    </ol>
  );
}
