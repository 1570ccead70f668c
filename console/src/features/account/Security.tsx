import { useLanguage } from '@/i18n/language';
import { Page } from '@/app/Page';
import { PasswordPanel } from './PasswordPanel';
import { SessionsPanel } from './SessionsPanel';
import { TwoFactorPanel } from './TwoFactorPanel';

export default function Security() {
  const { t } = useLanguage();
  return (
    <Page title={t('nav.security')} width="narrow">
      <PasswordPanel />
      <TwoFactorPanel />
      <SessionsPanel />
    </Page>
  );
}
