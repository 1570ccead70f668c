import { useQuery } from '@tanstack/react-query';
import { Box } from 'lucide-react';
import { api, value, type Schemas } from '@/api/client';
import { useLanguage } from '@/i18n/language';
import { Badge, SkeletonRows } from '@/ui/bits';
import { Empty } from '@/ui/Empty';
import { Problem } from '@/ui/Problem';
import { Warning } from '@/ui/SecretDialog';

const GUESTS = { queryKey: ['oop'], queryFn: () => value(api.GET('/api/oop')), refetchInterval: 5_000 };
const TONES = { ready: 'success', running: 'success', failed: 'danger', unavailable: 'warning' } as const;

/** Programs in a sandbox that bring tools, and what they may ask for. */
export function Guests() {
  const { t } = useLanguage();
  const guests = useQuery(GUESTS);
  if (guests.isPending) return <SkeletonRows rows={1} label={t('app.loading')} />;
  if (guests.error) return <div className="p-4"><Problem error={guests.error} onRetry={() => void guests.refetch()} /></div>;
  const { items, sandbox } = guests.data;
  if (items.length === 0) return <Empty level={3} icon={Box} title={t('features.no_guests')} body={t('features.no_guests_body')} />;
  return (
    <>
      {!sandbox.available && (
        <div className="p-4 pb-0">
          <Warning role="status">{t('features.no_sandbox')} <span data-raw>{sandbox.reason}</span></Warning>
        </div>
      )}
      <ul>{items.map((guest) => <GuestRow key={guest.id} guest={guest} />)}</ul>
    </>
  );
}

function GuestRow({ guest }: { guest: Schemas['GuestCard'] }) {
  const { t } = useLanguage();
  return (
    <li data-testid="guest" className="border-b border-line px-4 py-3 last:border-0">
      <p className="flex flex-wrap items-center gap-2">
        <span data-raw className="font-medium">{guest.name}</span>
        <span data-raw className="text-sm text-muted">{guest.version}</span>
        <Badge tone={TONES[guest.state]}>{t(`features.guest_${guest.state}`)}</Badge>
      </p>
      <p className="mt-1 text-sm text-muted">{t('features.brings', { count: guest.tools.length })}</p>
      {guest.capabilities.length > 0 && (
        <p className="mt-1.5 flex flex-wrap gap-1.5">
          {guest.capabilities.map((one) => (
            <Badge key={one} tone={guest.granted.includes(one) ? 'info' : 'neutral'}>
              <span data-raw>{one}</span>
              {guest.granted.includes(one) ? t('features.granted') : t('features.not_granted')}
            </Badge>
          ))}
        </p>
      )}
      {guest.error && <p data-raw className="mt-1 text-sm wrap-anywhere text-danger">{guest.error}</p>}
    </li>
  );
}
