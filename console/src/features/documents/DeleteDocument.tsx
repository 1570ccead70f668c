import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { api, value } from '@/api/client';
import { useLanguage } from '@/app/language';
import { Confirm } from '@/ui/Confirm';
import { toast } from '@/ui/toast';
import { tellOthers, type Document } from './server';

export function DeleteDocument({ document, onClose }: { document: Document; onClose: () => void }) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: () => value(api.DELETE('/api/documents/{id}', { params: { path: { id: document.id } } })),
    onSuccess: () => {
      tellOthers(queries, document.id);
      toast(t('documents.deleted', { title: document.title }));
      void navigate({ to: '/documents' });
    },
  });
  return <Confirm title={t('documents.delete_title', { title: document.title })} body={t('files.delete_body')} action={t('documents.delete')} busy={remove.isPending} error={remove.error} onConfirm={() => remove.mutate()} onClose={onClose} />;
}
