/** Deleting happens at once and is taken back by restoring from the trash: a tab that closes in between loses nothing. */
import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useCallback, useSyncExternalStore } from 'react';
import { api, value } from '@/api/client';
import { isRefusal } from '@/api/refusal';
import { wordsFor } from '@/ui/Problem';
import { toast } from '@/ui/toast';
import { useLanguage } from '@/i18n/language';
import { usePins } from './pins';

const UNDO_MILLISECONDS = 8000;
const LISTS = ['notes', 'documents', 'files', 'trash', 'usage'];
const THINGS = ['note', 'document', 'file'];

let leaving: ReadonlySet<string> = new Set();
const listeners = new Set<() => void>();

function mark(id: string, gone: boolean): void {
  leaving = new Set(gone ? [...leaving, id] : [...leaving].filter((one) => one !== id));
  listeners.forEach((tell) => tell());
}

/** What was deleted here while the lists that show it have not heard yet. */
export const useLeaving = (): ReadonlySet<string> =>
  useSyncExternalStore(
    (tell) => (listeners.add(tell), () => listeners.delete(tell)),
    () => leaving,
  );

/** Every list reads anew; the thing itself only when somebody opens it. */
export async function tellTrash(queries: QueryClient, id: string): Promise<void> {
  for (const thing of THINGS) void queries.invalidateQueries({ queryKey: [thing, id], refetchType: 'none' });
  await Promise.all(LISTS.map((list) => queries.invalidateQueries({ queryKey: [list] })));
}

export const restoreFromTrash = (id: string, key?: string) =>
  value(api.POST('/api/trash/{id}/restore', { params: { path: { id } }, body: key === undefined ? {} : { key } }));

interface Thing {
  id: string;
  name: string;
  remove: () => Promise<unknown>;
}

/** Into the trash, with a word about it from which it can be taken back; true once it is there. */
export function useDelete(): (thing: Thing) => Promise<boolean> {
  const language = useLanguage();
  const queries = useQueryClient();
  const { removeThing } = usePins();
  return useCallback(
    async ({ id, name, remove }) => {
      const { t } = language;
      const undo = async () => {
        try {
          await restoreFromTrash(id);
          pinAgain();
          toast(t('trash.restored', { name }));
        } catch (error) {
          if (isRefusal(error)) toast(isRefusal(error, 'repository.key_taken') ? t('trash.taken', { name }) : wordsFor(language, error));
        }
        await tellTrash(queries, id);
      };
      let pinAgain = () => {};
      mark(id, true);
      try {
        await remove();
        pinAgain = removeThing(id);
        toast(t('trash.moved', { name }), { undo: () => void undo(), milliseconds: UNDO_MILLISECONDS });
        await tellTrash(queries, id);
        return true;
      } catch (error) {
        if (isRefusal(error)) toast(wordsFor(language, error));
        return false;
      } finally {
        mark(id, false);
      }
    },
    [language, queries, removeThing],
  );
}
