/** Everything around a screen once somebody is signed in. */
import { useQuery } from '@tanstack/react-query';
import { Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { Menu as MenuIcon, Search } from 'lucide-react';
import { lazy, Suspense, useCallback, useEffect, useMemo, useState } from 'react';
import { flushSync } from 'react-dom';
import { identityQuery } from '@/api/queries';
import { Button } from '@/ui/Button';
import { useSlow } from '@/ui/bits';
import { IconButton, RadixDialog, Tooltip } from '@/ui/Overlay';
import { Problem } from '@/ui/Problem';
import { Toaster } from '@/ui/toast';
import { Banners } from './Banners';
import { useCompanyLook } from './company-look';
import { NAVIGATION } from './navigation';
import { useLanguage } from './language';
import { Palette } from './Palette';
import { useIdentity, useMay } from './session';
import { useKeyboard, useShortcuts } from './shortcuts';
import { Sidebar } from './Sidebar';

export default function Shell() {
  const identity = useQuery(identityQuery);
  if (identity.data) return <Tooltip.Provider delayDuration={400}><Frame /></Tooltip.Provider>;
  return <Waiting error={identity.error} onRetry={() => void identity.refetch()} />;
}

function Waiting({ error, onRetry }: { error: Error | null; onRetry: () => void }) {
  const { t } = useLanguage();
  const slow = useSlow(!error);
  return (
    <main className="grid min-h-dvh md:grid-cols-[15rem_1fr]">
      <div className="border-e border-line bg-nav p-4 max-md:hidden">{slow && <div className="skeleton h-9" />}</div>
      <div className="p-6" aria-busy={!error}>
        <h1 className="sr-only">{t('app.loading')}</h1>
        {slow && <div className="mx-auto grid max-w-6xl gap-4"><div className="skeleton h-9 w-64" /><div className="skeleton h-40" /></div>}
        {error && <div className="mx-auto max-w-xl"><Problem error={error} action={<Button size="small" onClick={onRetry}>{t('ui.retry')}</Button>} /></div>}
      </div>
    </main>
  );
}

const CurlDialog = lazy(() => import('./CurlDialog'));
const Help = lazy(() => import('./Help'));

type Overlay = 'palette' | 'help' | 'curl' | 'drawer' | null;

function Frame() {
  const { t } = useLanguage();
  const path = useRouterState({ select: (state) => state.location.pathname });
  const { org } = useIdentity();
  const [overlay, setOverlay] = useState<Overlay>(null);
  const open = (what: Overlay) => () => setOverlay(what);
  useEffect(() => setOverlay((now) => (now === 'drawer' ? null : now)), [path]);
  useSpokenLanguage();
  useCompanyLook();
  useGlobalKeys(setOverlay);
  const sidebar = <Sidebar onSearch={open('palette')} onHelp={open('help')} />;
  return (
    <div className="min-h-dvh md:grid md:grid-cols-[15rem_minmax(0,1fr)]">
      <a href="#main" onClick={skipToMain} className="sr-only z-50 rounded-md bg-surface focus:not-sr-only focus:fixed focus:start-2 focus:top-2 focus:p-2">{t('app.skip')}</a>
      <aside aria-label={t('app.sidebar')} className="sticky top-0 flex h-dvh flex-col border-e border-line bg-nav max-md:hidden">{sidebar}</aside>
      <div className="flex min-w-0 flex-col">
        <header className="sticky top-0 z-30 flex h-13 items-center gap-1 border-b border-line bg-surface px-2 md:hidden">
          <IconButton label={t('app.open_menu')} onClick={open('drawer')} className="size-10"><MenuIcon size={19} aria-hidden /></IconButton>
          <b data-raw className="min-w-0 flex-1 truncate font-semibold">{org.name}</b>
          <IconButton label={t('app.search')} onClick={open('palette')} className="size-10"><Search size={19} aria-hidden /></IconButton>
        </header>
        <Banners />
        <main id="main" tabIndex={-1} className="min-w-0 flex-1 outline-none"><Suspense><Outlet /></Suspense></main>
      </div>
      {overlay === 'drawer' && <Drawer onClose={open(null)}>{sidebar}</Drawer>}
      {overlay === 'palette' && <Palette onClose={open(null)} onHelp={open('help')} onCurl={open('curl')} />}
      <Suspense>
        {overlay === 'help' && <Help onClose={open(null)} />}
        {overlay === 'curl' && <CurlDialog onClose={open(null)} />}
      </Suspense>
      <Toaster />
    </div>
  );
}

function Drawer({ onClose, children }: { onClose: () => void; children: React.ReactNode }) {
  const { t } = useLanguage();
  return (
    <RadixDialog.Root open onOpenChange={(next) => next || onClose()}>
      <RadixDialog.Portal>
        <RadixDialog.Overlay className="scrim md:hidden" />
        <RadixDialog.Content aria-describedby={undefined} className="fixed inset-y-0 start-0 z-50 flex w-72 max-w-[85vw] flex-col bg-nav shadow-pop outline-none md:hidden">
          <RadixDialog.Title className="sr-only">{t('app.navigation')}</RadixDialog.Title>
          {children}
        </RadixDialog.Content>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  );
}

/** The profile's language wins over the browser's, once it is known. */
function useSpokenLanguage(): void {
  const { locale: wanted } = useIdentity();
  const { locale, speak } = useLanguage();
  useEffect(() => {
    const { switching, locales } = window.atrium.facts.localization;
    if (switching && wanted !== locale && locales.includes(wanted)) void speak(wanted);
    // Only a change of the profile may switch; the language on screen changing must not switch it back.
    // eslint-disable-next-line hooks/exhaustive-deps
  }, [wanted]);
}

function useGlobalKeys(change: (overlay: Overlay) => void): void {
  // At once, and not when React finds time: the next key already belongs to what opened.
  const show = useCallback((overlay: Overlay) => flushSync(() => change(overlay)), [change]);
  const may = useMay();
  const navigate = useNavigate();
  useKeyboard();
  const jumps = useMemo(
    () => NAVIGATION.filter((item) => item.key && may(item.permission)).map((item) => ({ keys: `g ${item.key}`, label: item.label, run: () => void navigate({ to: item.to }) })),
    [may, navigate],
  );
  useShortcuts([{ keys: '/', label: 'app.key_palette', run: () => show('palette') }, { keys: '?', label: 'app.key_help', run: () => show('help') }, ...jumps]);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (!(event.metaKey || event.ctrlKey) || event.key.toLowerCase() !== 'k') return;
      event.preventDefault();
      localStorage.setItem('atrium.palette', '1');
      show('palette');
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [show]);
}

function skipToMain(event: React.MouseEvent): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}
