/** States of the whole console: no connection, a suspended company, a password still to choose. */
import { Link } from '@tanstack/react-router';
import { CloudOff, KeyRound, Lock } from 'lucide-react';
import { useEffect, useState, type ReactNode } from 'react';
import { hearServer } from '@/api/client';
import { useLanguage } from './language';
import { useIdentity, useReadOnly } from './session';

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

function Banner({ icon, tone, children }: { icon: ReactNode; tone: 'warning' | 'info'; children: ReactNode }) {
  const look = tone === 'warning' ? 'border-warning/30 bg-warning-soft text-warning' : 'border-info/30 bg-info-soft text-info';
  return <div role="status" className={`flex items-center gap-2.5 border-b px-4 py-2 text-sm font-medium sm:px-6 lg:px-8 ${look}`}>{icon}<p className="min-w-0">{children}</p></div>;
}

export function Banners() {
  const { t, rich } = useLanguage();
  const offline = useOffline();
  const readOnly = useReadOnly();
  const first = useIdentity().credential === 'first';
  return (
    <>
      {offline && <Banner tone="warning" icon={<CloudOff size={16} className="shrink-0" aria-hidden />}>{t('app.offline')}</Banner>}
      {readOnly && <Banner tone="warning" icon={<Lock size={16} className="shrink-0" aria-hidden />}>{t('app.read_only')}</Banner>}
      {first && (
        <Banner tone="info" icon={<KeyRound size={16} className="shrink-0" aria-hidden />}>
          {rich('app.first_session', { link: (parts) => <Link key="link" to="/account/security" className="underline underline-offset-2">{parts}</Link> })}
        </Banner>
      )}
    </>
  );
}
