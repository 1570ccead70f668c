/** The bytes of files: to disk, or into memory for a look at them. */
import { api } from '@/api/client';
import { contentPath, type StoredObject } from '@/api/repository';

/** The bytes of one version, in memory. */
export async function readBytes(id: string, version: number, range?: string): Promise<Blob> {
  const { data } = await api.GET('/api/repo-obj/{id}/content', {
    params: { path: { id }, query: { version: String(version) }, ...(range ? { header: { Range: range } } : {}) },
    as: 'blob',
  });
  return data;
}

/** Saved to disk by the browser itself, whatever its type; nothing of it passes through memory. */
export function download(file: StoredObject, version = file.version.number): void {
  const link = document.createElement('a');
  link.href = contentPath(file.id, version);
  link.download = file.filename;
  link.click();
}
