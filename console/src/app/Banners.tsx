/** States of the whole console: no connection, a suspended company. */
import { CloudOff, Lock } from 'lucide-react';
import { useEffect, useState, type ReactNode } from 'react';
import { hearServer } from '@/api/client';
import { useLanguage } from '@/i18n/language';
import { useReadOnly } from './session';

function useOffline(): boolean {
  const [offline, setOffline] = useState(!navigator.onLine);
  useEffect(() => {
    const lost = () => setOffline(true);
    const back = () => setOffline(false);
    addEventListener('offline', lost);
    addEventListener('online', back);
    const hush = hearServer((heard) => (heard === 'unreachable' ? lost() : back()));
    return () => {
      removeEventListener('offline', lost);
      removeEventListener('online', back);
      hush();
    };
  }, []);
  return offline;
}

function Banner({ icon, children }: { icon: ReactNode; children: ReactNode }) {
  return (
    <div
      role="status"
      className="flex items-center gap-2.5 border-b border-warning/30 bg-warning-soft px-4 py-2 text-sm font-medium text-warning sm:px-6 lg:px-8"
    >
      {icon}
      <p className="min-w-0">{children}</p>
    </div>
  );
}

export function Banners() {
  const { t } = useLanguage();
  const offline = useOffline();
  const readOnly = useReadOnly();
  return (
    <>
      {offline && <Banner icon={<CloudOff size={16} className="shrink-0" aria-hidden />}>{t('app.offline')}</Banner>}
      {readOnly && <Banner icon={<Lock size={16} className="shrink-0" aria-hidden />}>{t('app.read_only')}</Banner>}
    </>
  );
}
