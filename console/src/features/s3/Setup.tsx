import { useLanguage } from '@/i18n/language';
import { Snippets } from '@/ui/Snippets';
import { CLIENTS, type Access } from './clients';

/** One client's configuration at a time, ready to paste. */
export function Setup({ access }: { access: Access }) {
  const { t } = useLanguage();
  const texts = Object.fromEntries(Object.entries(CLIENTS).map(([name, write]) => [name, write(access)]));
  return <Snippets label={t('s3.client')} texts={texts} />;
}
