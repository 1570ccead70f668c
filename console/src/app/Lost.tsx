/** When an address leads nowhere, or a screen breaks. */
import { Link, useRouter, type ErrorComponentProps } from '@tanstack/react-router';
import { Compass, TriangleAlert } from 'lucide-react';
import { Button, buttonClass } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { useLanguage } from './language';

export function NotFound() {
  const { t } = useLanguage();
  return (
    <main className="mx-auto max-w-3xl p-6">
      <h1 className="sr-only">{t('app.lost_title')}</h1>
      <Empty icon={Compass} title={t('app.lost_title')} body={t('app.lost_body')} action={<Link to="/" className={buttonClass('primary')}>{t('app.go_home')}</Link>} />
    </main>
  );
}

export function Broken({ reset }: ErrorComponentProps) {
  const { t } = useLanguage();
  const router = useRouter();
  const again = () => {
    reset();
    void router.invalidate();
  };
  return (
    <div role="alert" className="mx-auto max-w-3xl p-6">
      <h1 className="sr-only">{t('app.broken_title')}</h1>
      <Empty icon={TriangleAlert} title={t('app.broken_title')} body={t('app.broken_body')} action={<Button kind="primary" onClick={again}>{t('ui.retry')}</Button>} />
    </div>
  );
}
