/** Settings as a page: what a phone shows instead of the list beside every setting. */
import { Link } from '@tanstack/react-router';
import { ChevronRight } from 'lucide-react';
import { Card } from '@/ui/bits';
import { useLanguage } from '@/i18n/language';
import type { SettingsPlace } from './feature';
import { sectionKey } from './navigation';
import { Page } from './Page';
import { useSettings } from './SettingsList';

export default function SettingsPage() {
  const { t } = useLanguage();
  return (
    <Page title={t('nav.settings')} description={t('nav.settings_lead')}>
      <div className="grid items-start gap-5 lg:grid-cols-2">
        {useSettings().map(({ section, places }) => (
          <Card key={section} className="overflow-hidden">
            <h2 className="border-b border-line px-4 py-3 font-semibold">{t(sectionKey(section))}</h2>
            <ul>{places.map((place) => <li key={place.to} className="border-b border-line last:border-0"><Entry place={place} /></li>)}</ul>
          </Card>
        ))}
      </div>
    </Page>
  );
}

function Entry({ place }: { place: SettingsPlace }) {
  const { t } = useLanguage();
  return (
    <Link to={place.to} className="flex h-11 items-center gap-3 px-4 -outline-offset-2 hover:bg-raised">
      <place.icon size={17} aria-hidden className="shrink-0 text-muted" />
      <span className="min-w-0 flex-1 truncate">{t(place.label)}</span>
      <ChevronRight size={16} aria-hidden className="shrink-0 text-muted rtl:rotate-180" />
    </Link>
  );
}
