import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { NoteReply } from '@/api/queries';
import { Conflict } from '@/app/writing/Conflict';
import { useAutosave } from '@/app/writing/useAutosave';
import { Absent } from './Absent';
import { NoteEditor } from './NoteEditor';
import { noteKey, readNote, serverOf } from './server';

export default function NotePage() {
  const { id = '' } = useParams({ strict: false });
  const note = useQuery({ queryKey: noteKey(id), queryFn: () => readNote(id) });
  if (note.data) return <KeptNote key={id} note={note.data} />;
  return <Absent error={note.error} onRetry={() => void note.refetch()} />;
}

function KeptNote({ note }: { note: NoteReply }) {
  const queries = useQueryClient();
  const { autosave, snapshot } = useAutosave(note, serverOf(queries));
  if (snapshot.state === 'conflict' && snapshot.theirs) {
    return <Conflict snapshot={snapshot} theirs={snapshot.theirs} onResolve={(text) => void autosave.resolve(text)} />;
  }
  return <NoteEditor autosave={autosave} snapshot={snapshot} />;
}
