import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, value } from '@/api/client';
import type { StoredObject } from '@/api/repository';
import { useLanguage } from '@/app/language';
import { Confirm } from '@/ui/Confirm';
import { toast } from '@/ui/toast';
import { nameIn } from './keys';

/** All versions go at once and do not come back, so this asks. */
export function DeleteFile({ file, onClose, onDeleted }: { file: StoredObject; onClose: () => void; onDeleted?: () => void }) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const name = nameIn(file.key);
  const remove = useMutation({
    mutationFn: () => value(api.DELETE('/api/repo-obj/{id}', { params: { path: { id: file.id } } })),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['files'] });
      toast(t('files.deleted', { name }));
      onClose();
      onDeleted?.();
    },
  });
  return <Confirm title={t('files.delete_title', { name })} body={t('files.delete_body')} action={t('files.delete')} busy={remove.isPending} error={remove.error} onConfirm={() => remove.mutate()} onClose={onClose} />;
}
