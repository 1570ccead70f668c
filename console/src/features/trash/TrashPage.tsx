/** What was deleted and can still come back: restored as it was, or taken away for good. */
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { useRef, useState } from 'react';
import { api, value, type Schemas } from '@/api/client';
import { PAGE } from '@/api/queries';
import { isRefusal } from '@/api/refusal';
import { restoreFromTrash, tellTrash } from '@/app/deleting';
import { useLanguage } from '@/i18n/language';
import { Page } from '@/app/Page';
import { useReadOnly } from '@/app/session';
import { Button } from '@/ui/Button';
import { Confirm } from '@/ui/Confirm';
import { Empty } from '@/ui/Empty';
import { ListPage } from '@/ui/ListPage';
import { wordsFor } from '@/ui/Problem';
import { useRowKeys } from '@/ui/rows';
import { toast } from '@/ui/toast';
import { RestoreAs } from './RestoreAs';
import { TrashRow } from './TrashRow';

type Item = Schemas['TrashItem'];
const KINDS = ['all', 'note', 'object'] as const;
type Kind = (typeof KINDS)[number];

const useTrash = (kind: Kind) =>
  useInfiniteQuery({
    queryKey: ['trash', kind],
    queryFn: ({ pageParam }) =>
      value(
        api.GET('/api/trash', {
          params: { query: { limit: PAGE, ...(kind === 'all' ? {} : { kind }), ...(pageParam ? { cursor: pageParam } : {}) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });

export default function TrashPage() {
  const { t } = useLanguage();
  const readOnly = useReadOnly();
  const search = useSearch({ strict: false }) as { kind?: string };
  const kind = KINDS.find((one) => one === search.kind) ?? 'all';
  const trash = useTrash(kind);
  const [emptying, setEmptying] = useState(false);
  const list = useRef<HTMLUListElement>(null);
  useRowKeys(list);
  const items = trash.data?.pages.flatMap((page) => page.items);
  return (
    <Page
      title={t('nav.trash')}
      description={t('trash.lead')}
      actions={
        !readOnly &&
        !!items?.length && (
          <Button kind="danger-ghost" onClick={() => setEmptying(true)}>{t('trash.empty')}</Button>
        )
      }
    >
      <Kinds kind={kind} />
      <ListPage
        query={trash}
        empty={items?.length === 0 && <Empty icon={Trash2} title={t('trash.none_title')} body={t('trash.none_body')} />}
      >
        <ul ref={list}>{items?.map((item) => <Found key={item.id} item={item} readOnly={readOnly} />)}</ul>
      </ListPage>
      {emptying && <EmptyTrash onClose={() => setEmptying(false)} />}
    </Page>
  );
}

function Kinds({ kind }: { kind: Kind }) {
  const { t } = useLanguage();
  const navigate = useNavigate();
  return (
    <div role="group" aria-label={t('trash.show')} className="mb-4 flex gap-1.5">
      {KINDS.map((one) => (
        <Button
          key={one}
          size="small"
          aria-pressed={kind === one}
          kind={kind === one ? 'default' : 'ghost'}
          onClick={() => void navigate({ to: '/trash', search: (one === 'all' ? {} : { kind: one }) as never, replace: true })}
        >
          {t(`trash.kind_${one}`)}
        </Button>
      ))}
    </div>
  );
}

/** One thing in the trash, and the two ways out of it. */
function Found({ item, readOnly }: { item: Item; readOnly: boolean }) {
  const { t, ...language } = useLanguage();
  const queries = useQueryClient();
  const [asking, setAsking] = useState<'purge' | { key: string } | null>(null);
  const restore = useMutation({
    mutationFn: (key?: string) => restoreFromTrash(item.id, key),
    onSuccess: ({ key }) => {
      toast(t('trash.restored', { name: key ?? item.title }));
      setAsking(null);
      void tellTrash(queries, item.id);
    },
    onError: (error) => {
      if (isRefusal(error, 'repository.key_taken')) setAsking({ key: String(error.facts['key'] ?? item.title) });
      else if (isRefusal(error)) toast(wordsFor({ t, ...language }, error));
    },
  });
  const purge = useMutation({
    mutationFn: () => value(api.DELETE('/api/trash/{id}', { params: { path: { id: item.id } } })),
    onSuccess: () => {
      toast(t('trash.purged', { name: item.title }));
      void tellTrash(queries, item.id);
    },
  });
  return (
    <>
      <TrashRow
        item={item}
        busy={restore.isPending}
        onRestore={readOnly ? undefined : () => restore.mutate(undefined)}
        onPurge={readOnly ? undefined : () => setAsking('purge')}
      />
      {asking === 'purge' && (
        <Confirm
          title={t('trash.purge_title', { name: item.title })}
          body={t('trash.purge_body')}
          action={t('trash.purge')}
          busy={purge.isPending}
          error={purge.error}
          onConfirm={() => purge.mutate()}
          onClose={() => setAsking(null)}
        />
      )}
      {asking !== null && asking !== 'purge' && (
        <RestoreAs taken={asking.key} busy={restore.isPending} onKey={(key) => restore.mutate(key)} onClose={() => setAsking(null)} />
      )}
    </>
  );
}

function EmptyTrash({ onClose }: { onClose: () => void }) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const empty = useMutation({
    mutationFn: () => value(api.DELETE('/api/trash')),
    onSuccess: ({ purged }) => {
      toast(t('trash.emptied', { n: purged }));
      void tellTrash(queries, '');
      onClose();
    },
  });
  return (
    <Confirm
      title={t('trash.empty_title')}
      body={t('trash.empty_body')}
      action={t('trash.empty')}
      busy={empty.isPending}
      error={empty.error}
      onConfirm={() => empty.mutate()}
      onClose={onClose}
    />
  );
}
