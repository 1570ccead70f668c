/** When an address leads nowhere, or where it led to has moved. */
import { Link, Navigate, useRouterState } from '@tanstack/react-router';
import { Compass } from 'lucide-react';
import { buttonClass } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { useLanguage } from '@/i18n/language';
import { movedTo } from './moved';

export default function Lost() {
  const { t } = useLanguage();
  const address = useRouterState({ select: (state) => state.location.href });
  const moved = movedTo(address);
  if (moved) return <Navigate to={moved} replace />;
  return (
    <main className="mx-auto max-w-3xl p-6">
      <h1 className="sr-only">{t('app.lost_title')}</h1>
      <Empty
        icon={Compass}
        title={t('app.lost_title')}
        body={t('app.lost_body')}
        action={<Link to="/" className={buttonClass('primary')}>{t('app.go_home')}</Link>}
      />
    </main>
  );
}
