/** A miniature of the shell in the edited colours; nothing outside it changes. */
import { House, NotebookPen, Search, Users } from 'lucide-react';
import type { CSSProperties } from 'react';
import { keyOf, NAMES, type Mode, type Theme } from '@/app/colours/tokens';
import { useLanguage } from '@/i18n/language';
import mark from '@/mark.svg';
import { Badge } from '@/ui/bits';
import { buttonClass } from '@/ui/Button';

const BARS = [
  ['bg-(--chart-1)', 'h-6'],
  ['bg-(--chart-2)', 'h-9'],
  ['bg-(--chart-3)', 'h-5'],
  ['bg-(--chart-4)', 'h-8'],
  ['bg-(--chart-5)', 'h-4'],
  ['bg-(--chart-6)', 'h-7'],
] as const;

interface Props {
  palette: Theme;
  theme: Theme;
  mode: Mode;
  title: string;
  tagline: string;
  logo: string | null;
}

export function Preview({ palette, theme, mode, title, tagline, logo }: Props) {
  const { t } = useLanguage();
  const colours = Object.fromEntries(NAMES.map((name) => [`--${name}`, palette[keyOf(mode, name)]]));
  const style = { ...colours, '--radius': theme.radius ?? '8px', colorScheme: mode } as CSSProperties;
  return (
    <div
      role="img"
      aria-label={t('branding.preview_of', { title })}
      data-testid="preview"
      data-mode={mode}
      data-font={theme.font ?? 'inter'}
      style={style}
      className="overflow-hidden rounded-xl border border-line bg-bg font-sans text-text"
    >
      <div aria-hidden inert className="grid grid-cols-[7.5rem_minmax(0,1fr)] text-xs">
        <div className="grid content-start gap-0.5 border-e border-line bg-nav p-2">
          <div className="mb-1.5 flex items-center gap-1.5 px-1">
            <img src={logo ?? mark} alt="" className="size-5 object-contain" />
            <b data-raw className="truncate font-semibold">{title}</b>
          </div>
          <span className="mb-1 flex h-6 items-center gap-1.5 rounded-md border border-line bg-surface px-1.5 text-muted">
            <Search size={11} />
            {t('app.search')}
          </span>
          <span className="flex h-6 items-center gap-1.5 rounded-md bg-nav-active px-1.5 font-medium text-nav-active-text">
            <House size={12} />
            {t('nav.home')}
          </span>
          <span className="flex h-6 items-center gap-1.5 rounded-md px-1.5 text-nav-text">
            <NotebookPen size={12} />
            {t('nav.notes')}
          </span>
          <span className="flex h-6 items-center gap-1.5 rounded-md px-1.5 text-nav-text">
            <Users size={12} />
            {t('nav.members')}
          </span>
        </div>
        <div className="min-w-0 p-3">
          <p data-raw className="truncate text-lg font-semibold">{title}</p>
          <p data-raw className="min-h-4 truncate text-muted">{tagline}</p>
          <div className="mt-2 grid gap-2 rounded-xl border border-line bg-surface p-2.5 shadow-card">
            <p>
              {t('branding.sample')} <span className="text-link underline underline-offset-2">{t('branding.sample_link')}</span>
            </p>
            <div className="flex flex-wrap gap-1">
              <Badge tone="success">{t('branding.sample_good')}</Badge>
              <Badge tone="warning">{t('branding.sample_soon')}</Badge>
              <Badge tone="danger">{t('branding.sample_bad')}</Badge>
              <Badge tone="info">{t('branding.sample_news')}</Badge>
            </div>
            <div className="flex flex-wrap gap-1.5">
              <span className={buttonClass('primary', 'small')}>{t('ui.continue')}</span>
              <span className={buttonClass('default', 'small')}>{t('ui.cancel')}</span>
            </div>
            <span className="h-6 rounded-md border border-line-strong bg-surface px-2 leading-6 text-muted">{t('app.search')}</span>
            <div className="flex h-9 items-end gap-1.5">
              {BARS.map(([colour, height]) => <span key={colour} className={`w-4 rounded-sm ${colour} ${height}`} />)}
            </div>
          </div>
        </div>
      </div>
    </div>
  );
}
