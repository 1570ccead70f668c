/** A place in the sidebar, and whether it is the one on screen. */
import { Link } from '@tanstack/react-router';
import clsx from 'clsx';
import { useLanguage } from '@/i18n/language';
import type { Place } from './feature';

export function PlaceLink({ place, here }: { place: Pick<Place, 'to' | 'label' | 'icon'>; here: boolean }) {
  const { t } = useLanguage();
  const look = here ? 'bg-nav-active font-medium text-nav-active-text' : 'text-nav-text hover:bg-raised';
  return (
    <Link to={place.to} aria-current={here ? 'page' : undefined} className={clsx('flex h-8 items-center gap-2.5 rounded-md px-2', look)}>
      <place.icon size={16} aria-hidden className="shrink-0" />
      <span className="truncate">{t(place.label)}</span>
    </Link>
  );
}
