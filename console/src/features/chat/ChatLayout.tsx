/** The conversations beside the one that is open; on a small screen one of them at a time. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, Outlet, useParams } from '@tanstack/react-router';
import clsx from 'clsx';
import { MessagesSquare, Plus } from 'lucide-react';
import { useRef } from 'react';
import type { StoredObject } from '@/api/repository';
import { CurlButton } from '@/app/Page';
import { useReadOnly } from '@/app/session';
import { useLanguage } from '@/i18n/language';
import { buttonClass } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { ListBody } from '@/ui/ListPage';
import { useRowKeys } from '@/ui/rows';
import { conversationsQuery } from './queries';

export default function ChatLayout() {
  const { id } = useParams({ strict: false });
  return (
    <div className="lg:grid lg:min-h-dvh lg:grid-cols-[19rem_minmax(0,1fr)]">
      <div className={clsx('border-line bg-surface max-lg:border-b lg:sticky lg:top-0 lg:h-dvh lg:border-e', id && 'max-lg:hidden')}>
        <Conversations openId={id} />
      </div>
      <div className="min-w-0"><Outlet /></div>
    </div>
  );
}

function Conversations({ openId }: { openId: string | undefined }) {
  const { t } = useLanguage();
  const readOnly = useReadOnly();
  const list = useRef<HTMLDivElement>(null);
  const found = useInfiniteQuery(conversationsQuery);
  const items = found.data?.pages.flatMap((page) => page.items).sort((one, other) => other.updated_at.localeCompare(one.updated_at));
  useRowKeys(list);
  return (
    <section aria-label={t('chat.conversations')} className="flex h-full flex-col">
      <div className="flex items-center gap-1 border-b border-line p-4 pb-3">
        <h2 className="flex-1 text-xl font-semibold">{t('chat.conversations')}</h2>
        <CurlButton />
        {!readOnly && (
          <Link to="/chat" className={buttonClass('primary', 'small', 'ms-1')}>
            <Plus size={15} aria-hidden />
            {t('chat.new')}
          </Link>
        )}
      </div>
      <div ref={list} className="min-h-0 flex-1 overflow-y-auto max-lg:max-h-48">
        <ListBody
          query={found}
          rows={5}
          empty={items?.length === 0 && <Empty icon={MessagesSquare} title={t('chat.none_title')} body={t('chat.none_body')} />}
        >
          <ul>{items?.map((one) => <Row key={one.id} conversation={one} open={one.id === openId} />)}</ul>
        </ListBody>
      </div>
    </section>
  );
}

function Row({ conversation, open }: { conversation: StoredObject; open: boolean }) {
  const { ago } = useLanguage();
  return (
    <li>
      <Link
        data-row
        to="/chat/$id"
        params={{ id: conversation.id }}
        aria-current={open ? 'true' : undefined}
        className={clsx('block border-b border-line px-4 py-2.5 -outline-offset-2', open ? 'bg-accent-soft' : 'hover:bg-raised')}
      >
        <span data-raw className={clsx('block truncate font-medium', open && 'text-link')}>
          {conversation.version.metadata['title'] ?? conversation.filename}
        </span>
        <time dateTime={conversation.updated_at} className="text-sm text-muted">{ago(conversation.updated_at)}</time>
      </Link>
    </li>
  );
}
