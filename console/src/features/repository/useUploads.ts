/** One list of uploads for the whole tab: it goes on while people look around. */
import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { useIdentity } from '@/app/session';
import { serverFor } from '@/app/uploads/server';
import { Uploads, type Upload } from '@/app/uploads/uploads';

let running: { team: string; user: string; uploads: Uploads } | null = null;

function uploadsFor(team: string, user: string, queries: QueryClient): Uploads {
  if (running?.team !== team || running.user !== user) {
    const uploads = new Uploads(serverFor(team, user), (object) => {
      void queries.invalidateQueries({ queryKey: ['files'] });
      void queries.invalidateQueries({ queryKey: ['file', object.id] });
    });
    addEventListener('online', () => uploads.wake());
    addEventListener('beforeunload', (event) => uploads.busy && event.preventDefault());
    running = { team, user, uploads };
  }
  return running.uploads;
}

export function useUploads(): { uploads: Uploads; list: readonly Upload[] } {
  const { team, user } = useIdentity();
  const uploads = uploadsFor(team.id, user.id, useQueryClient());
  return { uploads, list: useSyncExternalStore(uploads.subscribe, uploads.read) };
}
