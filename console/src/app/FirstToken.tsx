/** A new person's first token, shown once, as a link they can open. */
import { Secret } from '@/ui/Secret';
import { SecretDialog } from '@/ui/SecretDialog';
import { useLanguage } from '@/i18n/language';

export function FirstToken({ name, token, title, onClose }: { name: string; token: string; title?: string; onClose: () => void }) {
  const { t } = useLanguage();
  const link = `${location.origin}${location.pathname}#/join?token=${encodeURIComponent(token)}`;
  return (
    <SecretDialog
      title={title ?? t('members.added_title', { name })}
      description={t('members.added_lead')}
      warning={t('members.once')}
      action={t('members.passed_on')}
      onClose={onClose}
    >
      <Secret label={t('members.link')} text={link} />
      <Secret label={t('members.first_token')} text={token} />
    </SecretDialog>
  );
}
