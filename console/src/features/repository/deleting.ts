import { api } from '@/api/client';
import type { StoredObject } from '@/api/repository';
import { useDelete } from '@/app/deleting';
import { nameIn } from './keys';

/** Into the trash with all versions; true once it is there. */
export function useDeleteFile(): (file: StoredObject) => Promise<boolean> {
  const remove = useDelete();
  return ({ id, key }) => remove({ id, name: nameIn(key), remove: () => api.DELETE('/api/repo-obj/{id}', { params: { path: { id } } }) });
}
