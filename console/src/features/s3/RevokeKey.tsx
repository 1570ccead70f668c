import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, value, type Schemas } from '@/api/client';
import { useLanguage } from '@/i18n/language';
import { Confirm } from '@/ui/Confirm';
import { toast } from '@/ui/toast';

export default function RevokeKey({ accessKey, onClose }: { accessKey: Schemas['AccessKey']; onClose: () => void }) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const name = accessKey.name || accessKey.access_key_id;
  const revoke = useMutation({
    mutationFn: () => value(api.DELETE('/api/s3/credentials/{id}', { params: { path: { id: accessKey.id } } })),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['s3-keys'] });
      toast(t('s3.revoked', { name }));
      onClose();
    },
  });
  return (
    <Confirm
      title={t('s3.revoke_title', { name })}
      body={t('s3.revoke_body')}
      action={t('s3.revoke')}
      busy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate()}
      onClose={onClose}
    />
  );
}
