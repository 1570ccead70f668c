import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, value } from '@/api/client';
import { Confirm } from '@/ui/Confirm';
import { toast } from '@/ui/toast';
import { useLanguage } from '@/i18n/language';
import type { PersonDialog } from './dialog';

export default function RevokeTwoFactor({ person, onClose }: PersonDialog) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const { display_name: name } = person;
  const revoke = useMutation({
    mutationFn: () => value(api.DELETE('/api/admin/users/{id}/2fa', { params: { path: { id: person.id } } })),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['members'] });
      toast(t('members.revoked', { name }));
      onClose();
    },
  });
  return (
    <Confirm
      title={t('members.revoke_title', { name })}
      body={t('members.revoke_body')}
      action={t('members.revoke_two_factor')}
      busy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate()}
      onClose={onClose}
    />
  );
}
