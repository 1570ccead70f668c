/** The frame of every screen before sign-in. */
import { Globe } from 'lucide-react';
import type { ReactNode } from 'react';
import { languageName, useLanguage } from '@/i18n/language';
import { lazyExtra } from '@/app/lazily';
import { useLook } from '@/app/look';
import { useTitle } from '@/app/title';
import { Mark } from '@/ui/Mark';

// Beside the form on wide screens only, so nobody waits for it.
const Promises = lazyExtra(() => import('./Promises'));

export function Outside({ title, lead, children }: { title: string; lead: string; children: ReactNode }) {
  const { t } = useLanguage();
  const look = useLook();
  useTitle(title);
  return (
    <div className="grid min-h-dvh bg-surface lg:grid-cols-[minmax(0,1fr)_minmax(0,1.05fr)]">
      <main className="flex flex-col px-5 py-6 sm:px-10">
        <div className="flex items-center justify-between gap-4">
          <div className="flex items-center gap-2.5 font-semibold"><Mark logo={look.logo} /><span data-raw>{look.title}</span></div>
          <LanguageSwitch />
        </div>
        <div className="mx-auto flex w-full max-w-sm flex-1 flex-col justify-center py-10">
          <h1 className="text-2xl font-semibold">{title}</h1>
          <p className="mt-1.5 mb-7 text-muted">{lead}</p>
          {children}
        </div>
      </main>
      <aside
        aria-label={t('signin.about')}
        className="relative flex flex-col justify-center overflow-hidden border-s border-line bg-bg p-12 max-lg:hidden xl:p-20"
      >
        <Promises />
      </aside>
    </div>
  );
}

function LanguageSwitch() {
  const { t, locale, switchLocale } = useLanguage();
  const { switching, locales } = window.atrium.facts.localization;
  if (!switching) return null;
  return (
    <label className="flex items-center gap-1.5 text-muted">
      <Globe size={15} aria-hidden />
      <span className="sr-only">{t('ui.language')}</span>
      <select
        value={locale}
        onChange={(event) => void switchLocale(event.target.value)}
        className="h-8 rounded-md bg-transparent pe-1 text-sm text-text hover:bg-raised"
      >
        {locales.map((one) => <option key={one} value={one} data-raw>{languageName(one)}</option>)}
      </select>
    </label>
  );
}
