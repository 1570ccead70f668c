/** A link for somebody who cannot get in: handed over by whoever made it, shown once. */
import { useMutation } from '@tanstack/react-query';
import { api, value } from '@/api/client';
import { Secret } from '@/ui/Secret';
import { SecretDialog } from '@/ui/SecretDialog';
import { AskPassword } from '../AskPassword';
import { useLanguage } from '@/i18n/language';
import type { PersonDialog } from './dialog';

export default function ResetLink({ person, onClose }: PersonDialog) {
  const { t, dateTime } = useLanguage();
  const { display_name: name } = person;
  const make = useMutation({
    mutationFn: (password: string) =>
      value(api.POST('/api/members/{id}/reset', { params: { path: { id: person.id } }, body: { password } })),
  });
  if (make.data) {
    return (
      <SecretDialog
        title={t('members.reset_made', { name })}
        description={t('members.reset_pass_on', { when: dateTime(make.data.expires_at) })}
        warning={t('members.once')}
        action={t('members.passed_on')}
        onClose={onClose}
      >
        <Secret label={t('members.reset_link')} text={make.data.url} />
      </SecretDialog>
    );
  }
  return (
    <AskPassword
      title={t('members.reset_title', { name })}
      description={t('members.reset_lead')}
      action={t('members.reset_make')}
      busy={make.isPending}
      error={make.error}
      onSubmit={make.mutate}
      onClose={onClose}
    />
  );
}
