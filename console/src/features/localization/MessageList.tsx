/** The messages around the open one: what their sources say and what they say in the language. */
import { Link } from '@tanstack/react-router';
import clsx from 'clsx';
import { useEffect, useRef } from 'react';
import { useLanguage } from '@/i18n/language';
import { Card } from '@/ui/bits';
import { ListBody } from '@/ui/ListPage';
import { useRowKeys } from '@/ui/rows';
import { pathOf, searchOf } from './address';
import type { Message, Status, Wanted } from './queries';

interface Props {
  items: Message[];
  open: Message | undefined;
  query: Parameters<typeof ListBody>[0]['query'];
  wanted: Wanted;
}

export function MessageList({ items, open, query, wanted }: Props) {
  const { t } = useLanguage();
  const list = useRef<HTMLElement>(null);
  useRowKeys(list);
  useEffect(() => {
    void list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [open?.id]);
  return (
    <Card className="overflow-hidden lg:sticky lg:top-4">
      <nav
        ref={list}
        aria-label={t('localization.messages')}
        className="max-h-52 overflow-y-auto lg:max-h-[calc(100dvh-2rem)]"
      >
        <ul>{items.map((one) => <Row key={one.id} message={one} open={one.id === open?.id} wanted={wanted} />)}</ul>
        {query.hasNextPage && <ListBody query={query}>{null}</ListBody>}
      </nav>
    </Card>
  );
}

const DOTS: Record<Status, string> = { approved: 'bg-success', machine: 'bg-info', stale: 'bg-warning', missing: 'bg-danger' };

function Row({ message, open, wanted }: { message: Message; open: boolean; wanted: Wanted }) {
  const { t } = useLanguage();
  const text = message.pending?.text ?? message.text;
  const state = message.pending ? 'pending' : message.status;
  return (
    <li className="border-b border-line last:border-0">
      <Link
        to={pathOf('desk')}
        search={searchOf({ ...wanted, key: message.key })}
        data-row
        data-testid="message"
        aria-current={open ? 'true' : undefined}
        className={clsx('block px-3 py-2 -outline-offset-2', open ? 'bg-accent-soft' : 'hover:bg-raised')}
      >
        <span className="flex items-center gap-2">
          <span aria-hidden className={clsx('size-2 shrink-0 rounded-full', message.pending ? 'bg-accent' : DOTS[message.status])} />
          <span data-raw className="min-w-0 truncate font-medium">{message.source}</span>
          <span className="sr-only">{t(`localization.status_${state}`)}</span>
        </span>
        <span className="block truncate ps-4 text-sm text-muted">
          {text === null ? t('localization.no_text') : <span data-raw lang={message.locale}>{text}</span>}
        </span>
      </Link>
    </li>
  );
}
