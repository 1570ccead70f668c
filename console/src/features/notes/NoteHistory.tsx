/** Every text a note had: compared, brought back. */
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { ArrowLeft } from 'lucide-react';
import { api, value } from '@/api/client';
import { PAGE, type NoteReply } from '@/api/queries';
import { useAbilities } from '@/app/abilities';
import { useLanguage } from '@/i18n/language';
import { CurlButton } from '@/app/Page';
import { useTitle } from '@/app/title';
import { VersionList } from '@/app/versions/VersionList';
import { Card, SkeletonRows } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { Problem } from '@/ui/Problem';
import { Absent } from './Absent';
import { noteKey, readNote } from './server';

export default function NoteHistory() {
  const { id = '' } = useParams({ strict: false });
  const note = useQuery({ queryKey: noteKey(id), queryFn: () => readNote(id) });
  if (note.data) return <History key={id} note={note.data} />;
  return <Absent error={note.error} onRetry={() => void note.refetch()} />;
}

const readText = async (id: string, number: number): Promise<string> => {
  const { title, body } = await value(api.GET('/api/notes/{id}/versions/{number}', { params: { path: { id, number } } }));
  return `${title}\n\n${body}`;
};

function useVersions(id: string) {
  return useInfiniteQuery({
    queryKey: [...noteKey(id), 'versions'],
    queryFn: ({ pageParam }) =>
      value(
        api.GET('/api/notes/{id}/versions', {
          params: { path: { id }, query: { limit: PAGE, ...(pageParam ? { cursor: pageParam } : {}) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

function History({ note }: { note: NoteReply }) {
  const { t } = useLanguage();
  const may = useAbilities(note);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const versions = useVersions(note.id);
  useTitle(t('notes.history'));
  const restore = async ({ number: version }: { number: number }): Promise<number> => {
    const restored = await value(
      api.POST('/api/notes/{id}/restore', {
        params: { path: { id: note.id }, header: { 'If-Match': `"${note.version}"` } },
        body: { version },
      }),
    );
    queries.setQueryData(noteKey(note.id), restored);
    void queries.invalidateQueries({ queryKey: ['notes'] });
    void queries.invalidateQueries({ queryKey: [...noteKey(note.id), 'versions'] });
    void navigate({ to: '/notes/$id', params: { id: note.id } });
    return restored.version;
  };
  const call = async ({ number }: { number: number }, name: string | null): Promise<void> => {
    await value(api.PUT('/api/notes/{id}/versions/{number}', { params: { path: { id: note.id, number } }, body: { name } }));
    await queries.invalidateQueries({ queryKey: [...noteKey(note.id), 'versions'] });
  };
  // What it was called is told where that was something else.
  const items = versions.data?.pages
    .flatMap((page) => page.items)
    .map(({ title, ...version }) => (title === note.title ? version : { ...version, title }));
  return (
    <article className="min-h-full bg-surface lg:min-h-dvh">
      <div className="sticky top-13 z-20 flex min-h-13 items-center gap-2 border-b border-line bg-surface px-2 py-2 sm:px-4 md:top-0">
        <Link
          to="/notes/$id"
          params={{ id: note.id }}
          aria-label={t('notes.back_to_note')}
          className="grid size-8 shrink-0 place-items-center rounded-md text-muted hover:bg-raised"
        >
          <ArrowLeft size={17} aria-hidden className="rtl:rotate-180" />
        </Link>
        <span data-raw className="min-w-0 flex-1 truncate font-medium">{note.title}</span>
        <CurlButton />
      </div>
      <div className="mx-auto w-full max-w-3xl px-4 py-6 sm:px-8 lg:py-10">
        <h1 className="text-2xl font-semibold">{t('notes.history')}</h1>
        <p className="mt-1 mb-5 text-muted">{t('notes.history_lead')}</p>
        <Card className="overflow-hidden">
          {versions.isPending && <SkeletonRows label={t('app.loading')} />}
          {versions.error && (
            <div className="p-4">
              <Problem error={versions.error} onRetry={() => void versions.refetch()} />
            </div>
          )}
          {items && (
            <VersionList
              versions={items}
              current={note.version}
              texts={{ key: noteKey(note.id), read: (number) => readText(note.id, number) }}
              restore={may.writes ? restore : undefined}
              onName={may.writes ? call : undefined}
            />
          )}
          {versions.hasNextPage && (
            <div className="p-3">
              <Button className="w-full" busy={versions.isFetchingNextPage} onClick={() => void versions.fetchNextPage()}>
                {t('ui.more')}
              </Button>
            </div>
          )}
        </Card>
      </div>
    </article>
  );
}
