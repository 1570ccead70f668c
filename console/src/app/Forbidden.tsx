import { Lock } from 'lucide-react';
import { Empty } from '@/ui/Empty';
import { useLanguage } from '@/i18n/language';

export default function Forbidden({ permission }: { permission: string }) {
  const { t } = useLanguage();
  return (
    <div className="mx-auto max-w-3xl p-6">
      <h1 className="sr-only">{t('app.forbidden_title')}</h1>
      <Empty icon={Lock} title={t('app.forbidden_title')} body={t('app.forbidden_body', { permission })} />
    </div>
  );
}
