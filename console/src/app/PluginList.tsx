/** The pages of plugins, below the daily places. */
import { Link } from '@tanstack/react-router';
import { Puzzle } from 'lucide-react';
import { useLanguage } from '@/i18n/language';
import { usePluginPages } from './plugin-pages';

export function PluginList() {
  const { t } = useLanguage();
  const pages = usePluginPages();
  if (pages.length === 0) return null;
  return (
    <nav aria-label={t('app.plugin_pages')} className="pt-4">
      <h2 className="px-2 pb-1 text-xs font-medium text-muted">{t('app.plugin_pages')}</h2>
      <ul className="grid gap-0.5">
        {pages.map(({ to, title }) => (
          <li key={to}>
            <Link
              to={to}
              className="flex h-8 items-center gap-2.5 rounded-md px-2 text-nav-text hover:bg-raised aria-[current=page]:bg-nav-active aria-[current=page]:text-nav-active-text"
            >
              <Puzzle size={16} aria-hidden className="shrink-0" />
              <span data-raw className="truncate">{title}</span>
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
