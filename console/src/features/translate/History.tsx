/** What this person had translated, newest first; one of them fills the page again. */
import { useInfiniteQuery } from '@tanstack/react-query';
import clsx from 'clsx';
import { Languages } from 'lucide-react';
import { useRef } from 'react';
import { useLanguage } from '@/i18n/language';
import { Raw } from '@/ui/bits';
import { Empty } from '@/ui/Empty';
import { ListPage } from '@/ui/ListPage';
import { useRowKeys } from '@/ui/rows';
import { languageName } from './languages';
import { historyQuery, type StoredTranslation } from './queries';

export default function History({ openId, onOpen }: { openId: string | undefined; onOpen: (one: StoredTranslation) => void }) {
  const { t } = useLanguage();
  const list = useRef<HTMLDivElement>(null);
  const found = useInfiniteQuery(historyQuery);
  const items = found.data?.pages.flatMap((page) => page.items);
  useRowKeys(list);
  return (
    <section aria-labelledby="history" className="mt-8">
      <h2 id="history" className="mb-3 text-lg font-semibold">{t('translate.history')}</h2>
      <div ref={list}>
        <ListPage
          query={found}
          rows={3}
          empty={
            items?.length === 0 && <Empty icon={Languages} level={3} title={t('translate.none_title')} body={t('translate.none_body')} />
          }
        >
          <ul>{items?.map((one) => <Row key={one.id} one={one} open={one.id === openId} onOpen={onOpen} />)}</ul>
        </ListPage>
      </div>
    </section>
  );
}

interface RowProps {
  one: StoredTranslation;
  open: boolean;
  onOpen: (one: StoredTranslation) => void;
}

function Row({ one, open, onOpen }: RowProps) {
  const { t, ago } = useLanguage();
  return (
    <li className="border-b border-line last:border-0">
      <button
        type="button"
        data-row
        aria-current={open ? 'true' : undefined}
        onClick={() => onOpen(one)}
        className={clsx('block w-full px-4 py-2.5 text-start -outline-offset-2', open ? 'bg-accent-soft' : 'hover:bg-raised')}
      >
        <Raw className="block truncate font-medium">{one.original.trim().slice(0, 200)}</Raw>
        <span className="flex flex-wrap gap-x-2 text-sm text-muted">
          <Raw>{languageName(one.target)}</Raw>
          <span>{t(`translate.format_${one.format}`)}</span>
          <time dateTime={one.created_at}>{ago(one.created_at)}</time>
        </span>
      </button>
    </li>
  );
}
