/** Deleting with eight seconds to think again. */
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useSyncExternalStore } from 'react';
import { api } from '@/api/client';
import { credential } from '@/api/credential';
import type { Note } from '@/api/queries';
import { isRefusal } from '@/api/refusal';
import { useLanguage } from '@/app/language';
import { wordsFor } from '@/ui/Problem';
import { toast } from '@/ui/toast';
import { later, UNDO_MILLISECONDS } from '@/ui/undoable';

let leaving: ReadonlySet<string> = new Set();
const listeners = new Set<() => void>();

function mark(id: string, gone: boolean): void {
  leaving = new Set(gone ? [...leaving, id] : [...leaving].filter((one) => one !== id));
  listeners.forEach((tell) => tell());
}

/** Notes that are gone from the screen and about to be gone from the server. */
export const useLeaving = (): ReadonlySet<string> => useSyncExternalStore((tell) => (listeners.add(tell), () => listeners.delete(tell)), () => leaving);

export function useDeleteNote(): (note: Note) => void {
  const language = useLanguage();
  const queries = useQueryClient();
  return useCallback(
    (note) => {
      mark(note.id, true);
      const commit = async (keepalive: boolean) => {
        if (keepalive) return void fetch(`/api/notes/${note.id}`, { method: 'DELETE', keepalive, headers: { authorization: `Bearer ${credential.get()}` } });
        try {
          await api.DELETE('/api/notes/{id}', { params: { path: { id: note.id } } });
          await queries.invalidateQueries({ queryKey: ['notes'] });
        } catch (error) {
          if (isRefusal(error)) toast(wordsFor(language, error));
        }
        mark(note.id, false);
      };
      const takeBack = later((keepalive) => void commit(keepalive));
      const undo = () => {
        takeBack();
        mark(note.id, false);
      };
      toast(language.t('notes.deleted', { title: note.title }), { undo, milliseconds: UNDO_MILLISECONDS });
    },
    [language, queries],
  );
}
