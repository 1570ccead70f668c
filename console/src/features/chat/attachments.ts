/** Files of a question: stored below `chats/files/` like any other file, private to the person. */
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useIdentity } from '@/app/session';
import type { Upload, Uploads } from '@/app/uploads/uploads';
import { useLanguage } from '@/i18n/language';
import { toast } from '@/ui/toast';
import { FOLDER } from './queries';

const NONE: readonly Upload[] = [];
const never = () => () => undefined;
const none = () => NONE;

/** A folder of its own, so that two files of one name stay two. */
const keyFor = (file: File): string => `${FOLDER}files/${crypto.randomUUID().slice(0, 8)}/${file.name}`;

async function load(team: string, user: string): Promise<Uploads> {
  const [uploads, server] = await Promise.all([import('@/app/uploads/uploads'), import('@/app/uploads/server')]);
  return new uploads.Uploads(server.serverFor(team, user));
}

export interface Attachments {
  list: readonly Upload[];
  add: (files: readonly File[]) => void;
  remove: (id: number) => void;
  retry: (id: number) => void;
  /** Forget them: the question was asked. */
  clear: () => void;
}

export function useAttachments(): Attachments {
  const { team, user } = useIdentity();
  const { t } = useLanguage();
  const [uploads, setUploads] = useState<Uploads | null>(null);
  const list = useSyncExternalStore(uploads?.subscribe ?? never, uploads?.read ?? none);
  useEffect(() => {
    if (!uploads) return;
    const wake = () => uploads.wake();
    addEventListener('online', wake);
    return () => removeEventListener('online', wake);
  }, [uploads]);
  // One list, also for files that come while its code is still loading.
  const loading = useRef<Promise<Uploads> | null>(null);
  const add = useCallback(
    (files: readonly File[]) => {
      const begin = async () => {
        const made = await (loading.current ??= load(team.id, user.id));
        setUploads(made);
        made.add(files.map((file) => ({ file, key: keyFor(file) })), 'private');
      };
      begin().catch(() => {
        loading.current = null;
        toast(t('app.part_unloaded'));
      });
    },
    [team.id, user.id, t],
  );
  return {
    list,
    add,
    remove: (id) => uploads?.cancel(id),
    retry: (id) => uploads?.retry(id),
    clear: () => {
      loading.current = null;
      setUploads(null);
    },
  };
}
