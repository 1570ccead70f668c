/** Saving a file to disk: straight from the server through the service worker, or by way of memory where there is none. */
import { useCallback } from 'react';
import { api } from '@/api/client';
import { isRefusal } from '@/api/refusal';
import { contentPath, type StoredObject } from '@/api/repository';
import { workerAtWork } from '@/api/worker';
import { useLanguage } from '@/app/language';
import { wordsFor } from '@/ui/Problem';
import { toast } from '@/ui/toast';

/** The bytes of one version, in memory. */
export async function readBytes(id: string, version: number, range?: string): Promise<Blob> {
  const { data } = await api.GET('/api/repo-obj/{id}/content', { params: { path: { id }, query: { version: String(version) }, ...(range ? { header: { Range: range } } : {}) }, parseAs: 'blob' });
  return data as unknown as Blob;
}

function saveThroughWorker(path: string): void {
  const frame = document.createElement('iframe');
  frame.hidden = true;
  frame.src = `${path}&save=1`;
  document.body.append(frame);
  // The download outlives its frame once it has begun.
  setTimeout(() => frame.remove(), 60_000);
}

function saveBlob(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function useDownload(): (file: StoredObject, version?: number) => Promise<void> {
  const language = useLanguage();
  return useCallback(
    async (file, version = file.version.number) => {
      try {
        if (await workerAtWork()) saveThroughWorker(contentPath(file.id, version));
        else saveBlob(await readBytes(file.id, version), file.filename);
      } catch (error) {
        if (isRefusal(error)) toast(wordsFor(language, error));
      }
    },
    [language],
  );
}
