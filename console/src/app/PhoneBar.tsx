/** The bar at the bottom of a phone: the few places people open most, and the way to the rest. */
import { Link, useRouterState } from '@tanstack/react-router';
import clsx from 'clsx';
import { Ellipsis, type LucideIcon } from 'lucide-react';
import { useLanguage } from '@/i18n/language';
import { PLACES, placeOf } from './places';
import { useMay } from './session';

export function PhoneBar({ onMore }: { onMore: () => void }) {
  const { t } = useLanguage();
  const may = useMay();
  const path = useRouterState({ select: (state) => state.location.pathname });
  const here = placeOf(path);
  const shown = PLACES.filter((place) => place.bar && may(place.permission));
  return (
    <nav
      aria-label={t('app.navigation')}
      className="fixed inset-x-0 bottom-0 z-30 flex border-t border-line bg-nav pb-[env(safe-area-inset-bottom)] md:hidden"
    >
      {shown.map((place) => (
        <Link key={place.to} to={place.to} aria-current={place === here ? 'page' : undefined} className={lookOf(place === here)}>
          <Face icon={place.icon} label={t(place.label)} />
        </Link>
      ))}
      <button type="button" onClick={onMore} className={lookOf(!!here && !shown.includes(here))}>
        <Face icon={Ellipsis} label={t('nav.more')} />
      </button>
    </nav>
  );
}

const lookOf = (here: boolean): string =>
  clsx(
    'flex h-14 min-w-0 flex-1 flex-col items-center justify-center gap-0.5 -outline-offset-2',
    here ? 'font-medium text-nav-active-text' : 'text-nav-text',
  );

function Face({ icon: Icon, label }: { icon: LucideIcon; label: string }) {
  return <><Icon size={19} aria-hidden /><span className="max-w-full truncate px-1 text-xs">{label}</span></>;
}
