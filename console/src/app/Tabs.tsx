/** The views of one place, side by side. */
import { Link, useRouterState } from '@tanstack/react-router';
import clsx from 'clsx';
import { useLanguage } from '@/i18n/language';
import { placeOf, tabsAt } from './places';
import { useMay } from './session';

export function Tabs() {
  const { t } = useLanguage();
  const may = useMay();
  const path = useRouterState({ select: (state) => state.location.pathname });
  const tabs = tabsAt(path).filter((tab) => may(tab.permission));
  if (tabs.length < 2) return null;
  return (
    <nav aria-label={t(placeOf(path)!.label)} className="mb-5 flex gap-1 overflow-x-auto border-b border-line">
      {tabs.map(({ to, label }) => {
        const look = to === path ? 'border-accent text-link' : 'border-transparent text-muted hover:text-text';
        return (
          <Link
            key={to}
            to={to}
            aria-current={to === path ? 'page' : undefined}
            className={clsx('-mb-px flex h-10 items-center border-b-2 px-3 font-medium whitespace-nowrap -outline-offset-2', look)}
          >
            {t(label)}
          </Link>
        );
      })}
    </nav>
  );
}
