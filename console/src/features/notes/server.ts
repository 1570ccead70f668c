/** How notes reach the server. */
import type { QueryClient } from '@tanstack/react-query';
import { api, value } from '@/api/client';
import type { NoteReply } from '@/api/queries';
import type { Server } from '@/app/writing/autosave';

export const readNote = (id: string): Promise<NoteReply> => value(api.GET('/api/notes/{id}', { params: { path: { id } } }));

export const noteKey = (id: string) => ['note', id] as const;

/** Saves on top of a version and tells the lists. */
export function serverOf(queries: QueryClient): Server<NoteReply> {
  return {
    read: readNote,
    save: async ({ id, version }, change) => {
      const note = await value(
        api.PUT('/api/notes/{id}', { params: { path: { id }, header: { 'If-Match': `"${version}"` } }, body: change }),
      );
      queries.setQueryData(noteKey(id), note);
      void queries.invalidateQueries({ queryKey: ['notes'] });
      void queries.invalidateQueries({ queryKey: [...noteKey(id), 'versions'] });
      return note;
    },
  };
}
