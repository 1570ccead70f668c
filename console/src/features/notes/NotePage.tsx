import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { FileQuestion } from 'lucide-react';
import { useEffect, useState, useSyncExternalStore } from 'react';
import type { Note } from '@/api/queries';
import { isRefusal } from '@/api/refusal';
import { useLanguage } from '@/app/language';
import { useIdentity } from '@/app/session';
import { useSlow } from '@/ui/bits';
import { Button, buttonClass } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { Problem } from '@/ui/Problem';
import { Conflict } from '@/app/writing/Conflict';
import { Keeper } from '@/app/writing/keeper';
import { NoteEditor } from './NoteEditor';
import { noteKey, readNote, serverOf } from './server';

export default function NotePage() {
  const { id = '' } = useParams({ strict: false });
  const note = useQuery({ queryKey: noteKey(id), queryFn: () => readNote(id) });
  if (note.data) return <KeptNote key={id} note={note.data} />;
  return <Absent error={note.error} onRetry={() => void note.refetch()} />;
}

function KeptNote({ note }: { note: Note }) {
  const queries = useQueryClient();
  const { user } = useIdentity();
  const [keeper] = useState(() => new Keeper(note, user.id, serverOf(queries)));
  const snapshot = useSyncExternalStore(keeper.subscribe, keeper.read);
  useEffect(() => keeper.refresh(note), [keeper, note]);
  useEffect(() => {
    const save = () => void keeper.flush();
    addEventListener('pagehide', save);
    addEventListener('online', save);
    return () => {
      removeEventListener('pagehide', save);
      removeEventListener('online', save);
      keeper.stop();
    };
  }, [keeper]);
  if (snapshot.state === 'conflict' && snapshot.theirs) return <Conflict snapshot={snapshot} theirs={snapshot.theirs} onResolve={(text) => void keeper.resolve(text)} />;
  return <NoteEditor keeper={keeper} snapshot={snapshot} />;
}

function Absent({ error, onRetry }: { error: Error | null; onRetry: () => void }) {
  const { t } = useLanguage();
  const slow = useSlow(!error);
  if (isRefusal(error) && error.status === 404) {
    return <div><h1 className="sr-only">{t('notes.missing_title')}</h1><Empty icon={FileQuestion} title={t('notes.missing_title')} body={t('notes.missing_body')} action={<Link to="/notes" className={buttonClass()}>{t('notes.back_to_list')}</Link>} /></div>;
  }
  return (
    <div className="mx-auto max-w-3xl p-6 lg:p-10" aria-busy={!error}>
      <h1 className="sr-only">{t('app.loading')}</h1>
      {error ? <Problem error={error} action={<Button size="small" onClick={onRetry}>{t('ui.retry')}</Button>} /> : slow && <div className="grid gap-4"><div className="skeleton h-9 w-2/3" /><div className="skeleton h-4" /><div className="skeleton h-4 w-5/6" /><div className="skeleton h-4 w-3/4" /></div>}
    </div>
  );
}
