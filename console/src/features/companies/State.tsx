import { Lock } from 'lucide-react';
import { useLanguage } from '@/i18n/language';
import { Badge } from '@/ui/bits';

/** Whether a company may write. */
export function State({ suspended }: { suspended: boolean }) {
  const { t } = useLanguage();
  return suspended ? (
    <Badge tone="danger">
      <Lock size={11} aria-hidden />
      {t('company.suspended')}
    </Badge>
  ) : (
    <Badge tone="success">{t('company.active')}</Badge>
  );
}
