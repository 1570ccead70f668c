/** The places of Settings, by whose they are: only those that the signed-in person can use. */
import { Link, useRouterState } from '@tanstack/react-router';
import { ArrowLeft } from 'lucide-react';
import { useLanguage } from '@/i18n/language';
import { SECTIONS } from './feature';
import { sectionKey, SETTINGS_PLACES } from './navigation';
import { PlaceLink } from './PlaceLink';
import { closest } from './places';
import { useMay } from './session';

export function useSettings() {
  const may = useMay();
  const places = SETTINGS_PLACES.filter((place) => may(place.permission));
  return SECTIONS.map((section) => ({ section, places: places.filter((place) => place.section === section) })).filter(
    (one) => one.places.length > 0,
  );
}

export default function SettingsList() {
  const { t } = useLanguage();
  const path = useRouterState({ select: (state) => state.location.pathname });
  const here = closest(SETTINGS_PLACES, path);
  return (
    <nav aria-label={t('nav.settings')}>
      <Link to="/" className="flex h-8 items-center gap-2.5 rounded-md px-2 text-nav-text hover:bg-raised">
        <ArrowLeft size={16} aria-hidden className="shrink-0 rtl:rotate-180" />
        {t('nav.back')}
      </Link>
      {useSettings().map(({ section, places }) => (
        <div key={section} className="pt-3">
          <h2 className="px-2 pb-1 text-xs font-medium text-muted">{t(sectionKey(section))}</h2>
          <ul className="grid gap-0.5">
            {places.map((place) => <li key={place.to}><PlaceLink place={place} here={place === here} /></li>)}
          </ul>
        </div>
      ))}
    </nav>
  );
}
