import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import clsx from 'clsx';
import { Lock, NotebookPen, Plus, Search, SearchX, Users } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { membersQuery, notesQuery, type Note } from '@/api/queries';
import { useLeaving } from '@/app/deleting';
import { useLanguage } from '@/i18n/language';
import { CurlButton } from '@/app/Page';
import { useIdentity, useMay, useReadOnly } from '@/app/session';
import { useShortcuts } from '@/app/shortcuts';
import { buttonClass } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { ListBody } from '@/ui/ListPage';
import { useRowKeys } from '@/ui/rows';
import { snippet } from './snippet';

const TYPING_PAUSE = 200;

/** What is typed, in the address too: a search can be linked to and Back undoes it. */
function useSearchText(): [string, (text: string) => void, string] {
  const { q = '' } = useSearch({ strict: false }) as { q?: string };
  const navigate = useNavigate();
  const [typed, setTyped] = useState(q);
  useEffect(() => {
    if (typed.trim() === q) return;
    const timer = setTimeout(
      () => void navigate({ to: '.', search: typed.trim() ? { q: typed.trim() } : {}, replace: true }),
      TYPING_PAUSE,
    );
    return () => clearTimeout(timer);
  }, [typed, q, navigate]);
  return [typed, setTyped, q];
}

export function NoteList({ openId, reading }: { openId: string | undefined; reading: boolean }) {
  const { t } = useLanguage();
  const may = useMay();
  const navigate = useNavigate();
  const readOnly = useReadOnly();
  const [typed, setTyped, q] = useSearchText();
  const list = useRef<HTMLDivElement>(null);
  const leaving = useLeaving();
  const notes = useInfiniteQuery({ ...notesQuery(q), placeholderData: keepPreviousData });
  const items = notes.data?.pages.flatMap((page) => page.items).filter((note) => !leaving.has(note.id));
  const writes = may('notes:write') && !readOnly;
  useRowKeys(list);
  useShortcuts(writes ? [{ keys: 'n', label: 'nav.new_note', run: () => void navigate({ to: '/notes/new' }) }] : []);
  const Heading = reading ? 'h2' : 'h1';
  const first = writes && <Link to="/notes/new" className={buttonClass('primary')}>{t('notes.write_first')}</Link>;
  const empty = q ? (
    <Empty icon={SearchX} title={t('notes.not_found')} body={t('notes.not_found_body', { q })} />
  ) : (
    <Empty icon={NotebookPen} title={t('notes.none_title')} body={t('notes.none_body')} action={first} />
  );
  return (
    <section aria-label={t('nav.notes')} className="flex h-full flex-col">
      <div className="border-b border-line p-4 pb-3">
        <div className="mb-3 flex items-center gap-1">
          <Heading className="flex-1 text-xl font-semibold">{t('nav.notes')}</Heading>
          {!reading && <CurlButton />}
          {writes && (
            <Link to="/notes/new" className={buttonClass('primary', 'small', 'ms-1')}>
              <Plus size={15} aria-hidden />
              {t('notes.new_short')}
            </Link>
          )}
        </div>
        <div className="relative">
          <Search size={15} className="pointer-events-none absolute start-3 top-2.5 text-muted" aria-hidden />
          <input
            type="search"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            aria-label={t('notes.search')}
            placeholder={t('notes.search')}
            className="field ps-9"
          />
        </div>
      </div>
      <div ref={list} className="min-h-0 flex-1 overflow-y-auto">
        <ListBody query={notes} rows={7} empty={items?.length === 0 && empty}>
          <ul>{items?.map((note) => <Row key={note.id} note={note} open={note.id === openId} q={q} />)}</ul>
        </ListBody>
      </div>
    </section>
  );
}

function Row({ note, open, q }: { note: Note; open: boolean; q: string }) {
  const { t, ago } = useLanguage();
  const { user } = useIdentity();
  const members = useQuery(membersQuery);
  const owner = note.owner_id === user.id ? null : members.data?.find((member) => member.id === note.owner_id)?.display_name;
  const Icon = note.visibility === 'private' ? Lock : Users;
  const text = snippet(note.body);
  return (
    <li>
      <Link
        data-row
        to="/notes/$id"
        params={{ id: note.id }}
        search={q ? { q } : {}}
        aria-current={open ? 'true' : undefined}
        className={clsx('block border-b border-line px-4 py-3 -outline-offset-2', open ? 'bg-accent-soft' : 'hover:bg-raised')}
      >
        <span className="flex items-center gap-2">
          <span data-raw className={clsx('min-w-0 flex-1 truncate font-medium', open && 'text-link')}>{note.title}</span>
          <Icon size={13} className="shrink-0 text-muted" role="img" aria-label={t(`notes.${note.visibility}`)} />
        </span>
        <span data-raw className="mt-0.5 block truncate text-sm text-muted">{text || '—'}</span>
        <span className="mt-1 flex gap-1.5 text-xs text-muted">
          <span>{ago(note.updated_at)}</span>
          {owner && <span data-raw className="truncate">· {owner}</span>}
        </span>
      </Link>
    </li>
  );
}
