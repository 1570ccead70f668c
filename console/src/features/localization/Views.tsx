/** The screens of the translations, side by side. */
import { Link } from '@tanstack/react-router';
import clsx from 'clsx';
import { useMay } from '@/app/session';
import { useLanguage } from '@/i18n/language';
import { pathOf, searchOf, type View } from './address';

const NEEDS: Record<View, string> = { coverage: 'localization:read', desk: 'localization:read', review: 'localization:review' };

export function Views({ here, locale }: { here: View; locale?: string | undefined }) {
  const { t } = useLanguage();
  const may = useMay();
  const views = (Object.keys(NEEDS) as View[]).filter((view) => may(NEEDS[view]));
  return (
    <nav aria-label={t('nav.translations')} className="mb-5 flex gap-1 overflow-x-auto border-b border-line">
      {views.map((view) => (
        <Link
          key={view}
          to={pathOf(view)}
          search={searchOf({ locale: view === 'coverage' ? undefined : locale })}
          aria-current={view === here ? 'page' : undefined}
          className={clsx(
            '-mb-px flex h-10 items-center border-b-2 px-3 font-medium whitespace-nowrap -outline-offset-2',
            view === here ? 'border-accent text-link' : 'border-transparent text-muted hover:text-text',
          )}
        >
          {t(`localization.view_${view}`)}
        </Link>
      ))}
    </nav>
  );
}
