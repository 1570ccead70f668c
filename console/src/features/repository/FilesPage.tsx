/** Files by folder: look around, drop files anywhere, watch them arrive. */
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { FolderPlus, FolderTree, Search, Upload as UploadIcon } from 'lucide-react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { folderQuery, type Order, type Visibility } from '@/api/repository';
import { useLanguage } from '@/i18n/language';
import { lazyDialog } from '@/app/lazy-dialog';
import { lazyPart } from '@/app/lazily';
import { Page } from '@/app/Page';
import { useUnpinGone } from '@/app/pins';
import { useMay, useReadOnly } from '@/app/session';
import { Button } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { ListPage } from '@/ui/ListPage';
import { DropOverlay } from './DropOverlay';
import type { Dropped } from './dropped';
import { FileTable } from './FileTable';
import { nameIn } from './keys';
import { Trail } from './Trail';
import { useUploads } from './useUploads';

const NewFolder = lazyDialog(() => import('./NewFolder'));
const UploadPanel = lazyPart(() => import('./UploadPanel'));
const ORDERS = ['name', 'updated', 'size'] as const satisfies Order[];
const TYPING_PAUSE = 200;
const SHOWN_TO = 'atrium.upload_visibility';

/** Where one is and what one looks for are in the address: both can be linked to, and Back undoes them. */
function usePlace() {
  const search = useSearch({ strict: false }) as { at?: string | number; q?: string | number; order?: string; dir?: string };
  const folder = String(search.at ?? '');
  const q = String(search.q ?? '');
  const order = ORDERS.find((one) => one === search.order) ?? 'name';
  const dir = (['asc', 'desc'] as const).find((one) => one === search.dir);
  const navigate = useNavigate();
  const go = useCallback(
    (next: object) => void navigate({ to: '/files', search: ((old: object) => ({ ...old, ...next })) as never, replace: true }),
    [navigate],
  );
  const [typed, setTyped] = useState(q);
  useEffect(() => setTyped(q), [folder, q]);
  useEffect(() => {
    if (typed === q) return;
    const timer = setTimeout(() => go({ q: typed || undefined }), TYPING_PAUSE);
    return () => clearTimeout(timer);
  }, [typed, q, folder, go]);
  // Names begin at A, times with the newest and sizes with the largest; the second time it is the other way round.
  const down = (dir ?? (order === 'name' ? 'asc' : 'desc')) === 'desc';
  const by = (next: Order) =>
    go({ order: next === 'name' ? undefined : next, dir: next === order ? (down ? 'asc' : 'desc') : undefined });
  return { folder, q, typed, setTyped, order, dir, sorting: { order, down, by } };
}

export default function FilesPage() {
  const { t } = useLanguage();
  const may = useMay();
  const readOnly = useReadOnly();
  const writes = may('files:write') && !readOnly;
  const place = usePlace();
  const { uploads, list } = useUploads();
  const [shownTo, setShownTo] = useState<Visibility>(() => (localStorage.getItem(SHOWN_TO) === 'team' ? 'team' : 'private'));
  const [naming, setNaming] = useState(false);
  const take = (dropped: Dropped[]) => uploads.add(dropped.map(({ file, path }) => ({ file, key: place.folder + path })), shownTo);
  const choose = (next: Visibility) => {
    localStorage.setItem(SHOWN_TO, next);
    setShownTo(next);
  };
  return (
    <Page
      title={place.folder ? nameIn(place.folder) : t('nav.files')}
      raw={place.folder !== ''}
      description={place.folder ? '' : t('files.lead')}
      actions={
        writes && (
          <>
            <Button onClick={() => setNaming(true)}>
              <FolderPlus size={16} aria-hidden />
              {t('files.new_folder')}
            </Button>
            <Picker onFiles={take} />
          </>
        )
      }
    >
      {list.length > 0 && <UploadPanel uploads={uploads} list={list} />}
      <div className="mb-4 flex flex-wrap items-center gap-3">
        <Trail folder={place.folder} />
        {place.folder && <SearchHere folder={place.folder} />}
        {writes && <ShownTo shownTo={shownTo} onChange={choose} />}
      </div>
      <Contents place={place} writes={writes} onFiles={take} />
      {writes && <DropOverlay folder={place.folder} onFiles={take} />}
      {naming && <NewFolder parent={place.folder} onClose={() => setNaming(false)} />}
    </Page>
  );
}

/** By words of texts, too, where the field below looks for names. */
function SearchHere({ folder }: { folder: string }) {
  const { t } = useLanguage();
  return (
    <Link
      to="/search"
      search={{ prefix: folder } as never}
      className="flex h-7 items-center gap-1.5 rounded-md px-1.5 text-sm font-medium text-link hover:underline"
    >
      <Search size={15} aria-hidden />
      {t('files.search_here')}
    </Link>
  );
}

function Picker({ onFiles, label }: { onFiles: (files: Dropped[]) => void; label?: string }) {
  const { t } = useLanguage();
  const input = useRef<HTMLInputElement>(null);
  const picked = (event: React.ChangeEvent<HTMLInputElement>) => {
    onFiles([...(event.target.files ?? [])].map((file) => ({ file, path: file.name })));
    event.target.value = '';
  };
  return (
    <>
      <input ref={input} type="file" multiple hidden data-testid="picker" onChange={picked} />
      <Button kind="primary" onClick={() => input.current?.click()}>
        <UploadIcon size={16} aria-hidden />
        {label ?? t('files.upload')}
      </Button>
    </>
  );
}

function ShownTo({ shownTo, onChange }: { shownTo: Visibility; onChange: (visibility: Visibility) => void }) {
  const { t } = useLanguage();
  return (
    <label className="ms-auto flex items-center gap-2 text-sm text-muted">
      {t('files.new_are')}
      <select
        value={shownTo}
        onChange={(event) => onChange(event.target.value as Visibility)}
        className="h-8 rounded-md border border-line bg-surface ps-2 pe-6 text-sm text-text"
      >
        {(['private', 'team'] as const).map((one) => <option key={one} value={one}>{t(`files.${one}`)}</option>)}
      </select>
    </label>
  );
}

function Contents({
  place,
  writes,
  onFiles,
}: {
  place: ReturnType<typeof usePlace>;
  writes: boolean;
  onFiles: (files: Dropped[]) => void;
}) {
  const { t } = useLanguage();
  const { folder, q, typed, setTyped, order, dir, sorting } = place;
  const listing = useInfiniteQuery({ ...folderQuery({ folder, q, order, dir }), placeholderData: keepPreviousData });
  const folders = listing.data?.pages.flatMap((page) => page.prefixes) ?? [];
  const files = listing.data?.pages.flatMap((page) => page.items) ?? [];
  const empty = listing.data !== undefined && folders.length + files.length === 0;
  useUnpinGone(empty && !q && !listing.isPlaceholderData);
  return (
    <ListPage query={listing} head={<SearchField typed={typed} onType={setTyped} />}>
      {empty && q && <Empty icon={Search} title={t('files.none_found')} body={t('files.none_found_body', { q })} />}
      {empty && !q && (
        <Empty
          icon={FolderTree}
          title={t(folder ? 'files.none_here' : 'files.none_title')}
          body={t(writes ? 'files.none_body' : 'files.none_body_reader')}
          action={writes && <Picker onFiles={onFiles} label={t('files.upload_first')} />}
        />
      )}
      {!empty && listing.data && <FileTable folders={folders} files={files} sorting={sorting} />}
    </ListPage>
  );
}

function SearchField({ typed, onType }: { typed: string; onType: (typed: string) => void }) {
  const { t } = useLanguage();
  return (
    <div className="relative border-b border-line">
      <Search size={15} className="pointer-events-none absolute start-4 top-3.5 text-muted" aria-hidden />
      <input
        type="search"
        value={typed}
        onChange={(event) => onType(event.target.value)}
        aria-label={t('files.search')}
        placeholder={t('files.search')}
        className="h-11 w-full bg-transparent ps-10 pe-4 -outline-offset-2"
      />
    </div>
  );
}
