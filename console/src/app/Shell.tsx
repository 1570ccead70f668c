/** Everything around a screen once somebody is signed in. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { ArrowLeft, Search } from 'lucide-react';
import { Suspense, useCallback, useEffect, useMemo, useState } from 'react';
import { flushSync } from 'react-dom';
import { identityQuery } from '@/api/queries';
import { IconButton, RadixDialog, Tooltip } from '@/ui/Overlay';
import { Problem } from '@/ui/Problem';
import { Toaster } from '@/ui/toast';
import { Banners } from './Banners';
import { useCompanyLook } from './company-look';
import { useLanguage } from '@/i18n/language';
import { holdKeys, takeHeldKeys } from './held-keys';
import { lazyDialog } from './lazy-dialog';
import { PhoneBar } from './PhoneBar';
import { DAILY, placeOf, SETTINGS } from './places';
import { useIdentity, useMay } from './session';
import { useSettingsPlaces } from './settings-places';
import { useKeyboard, useShortcuts } from './shortcuts';
import { Sidebar } from './Sidebar';

export default function Shell() {
  const identity = useQuery(identityQuery);
  if (identity.data) return <Tooltip.Provider delayDuration={400}><Frame /></Tooltip.Provider>;
  return <Waiting error={identity.error} onRetry={() => void identity.refetch()} />;
}

/** Until the server has said who this is, the page's own outlines stay. */
function Waiting({ error, onRetry }: { error: Error | null; onRetry: () => void }) {
  const { t } = useLanguage();
  if (!error) return <p data-waiting role="status" className="sr-only">{t('app.loading')}</p>;
  return (
    <main className="mx-auto max-w-xl p-6 pt-16">
      <h1 className="sr-only">{t('app.unloaded_title')}</h1>
      <Problem error={error} onRetry={onRetry} />
    </main>
  );
}

const Palette = lazyDialog(() => import('./Palette'));
const CurlDialog = lazyDialog(() => import('./CurlDialog'));
const Help = lazyDialog(() => import('./Help'));
const Pointing = lazyDialog(() => import('./pointing/Pointing'));

type Overlay = 'palette' | 'help' | 'curl' | 'drawer' | null;

function Frame() {
  const { t } = useLanguage();
  const path = useRouterState({ select: (state) => state.location.pathname });
  const [overlay, setOverlay] = useState<Overlay>(null);
  const [pointing, point] = useState(false);
  const open = (what: Overlay) => () => {
    takeHeldKeys();
    setOverlay(what);
  };
  useEffect(() => setOverlay((now) => (now === 'drawer' ? null : now)), [path]);
  useSpokenLanguage();
  useCompanyLook();
  useChanges();
  useGlobalKeys(setOverlay);
  return (
    <div className="min-h-dvh md:grid md:grid-cols-[15rem_minmax(0,1fr)]">
      <a
        href="#main"
        onClick={skipToMain}
        className="sr-only z-50 rounded-md bg-surface focus:not-sr-only focus:fixed focus:start-2 focus:top-2 focus:p-2"
      >
        {t('app.skip')}
      </a>
      <aside aria-label={t('app.sidebar')} className="sticky top-0 flex h-dvh flex-col border-e border-line bg-nav max-md:hidden">
        <Sidebar onSearch={open('palette')} onHelp={open('help')} />
      </aside>
      <div className="flex min-w-0 flex-col">
        <PhoneHeader path={path} onSearch={open('palette')} />
        <Banners />
        {pointing && <Pointing onClose={() => point(false)} />}
        <main id="main" tabIndex={-1} className="min-w-0 flex-1 outline-none max-md:pb-16"><Suspense><Outlet /></Suspense></main>
      </div>
      <PhoneBar onMore={open('drawer')} />
      {overlay === 'drawer' && <Drawer onClose={open(null)}><Sidebar daily onSearch={open('palette')} onHelp={open('help')} /></Drawer>}
      {overlay === 'palette' && <Palette onClose={open(null)} onHelp={open('help')} onCurl={open('curl')} onPoint={() => point(true)} />}
      {overlay === 'help' && <Help onClose={open(null)} />}
      {overlay === 'curl' && <CurlDialog onClose={open(null)} />}
      <Toaster />
    </div>
  );
}

/** On a phone: whose workspace this is, or the way back to the list of settings. */
function PhoneHeader({ path, onSearch }: { path: string; onSearch: () => void }) {
  const { t } = useLanguage();
  const { org } = useIdentity();
  const deep = placeOf(path) === SETTINGS && path !== SETTINGS.to;
  return (
    <header className="sticky top-0 z-30 flex h-13 items-center gap-1 border-b border-line bg-surface ps-4 pe-2 md:hidden">
      {deep ? (
        <Link to={SETTINGS.to} className="flex h-10 min-w-0 flex-1 items-center gap-2 font-semibold">
          <ArrowLeft size={18} aria-hidden className="rtl:rotate-180" />
          {t(SETTINGS.label)}
        </Link>
      ) : (
        <b data-raw className="min-w-0 flex-1 truncate font-semibold">{org.name}</b>
      )}
      <IconButton label={t('app.search')} onClick={onSearch} className="size-10">
        <Search size={19} aria-hidden />
      </IconButton>
    </header>
  );
}

function Drawer({ onClose, children }: { onClose: () => void; children: React.ReactNode }) {
  const { t } = useLanguage();
  return (
    <RadixDialog.Root open onOpenChange={(next) => next || onClose()}>
      <RadixDialog.Portal>
        <RadixDialog.Overlay className="scrim md:hidden" />
        <RadixDialog.Content
          aria-describedby={undefined}
          className="fixed inset-y-0 start-0 z-50 flex w-72 max-w-[85vw] flex-col bg-nav shadow-pop outline-none md:hidden"
        >
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
  const { locale, switchLocale } = useLanguage();
  useEffect(() => {
    const { switching, locales } = window.atrium.facts.localization;
    if (switching && wanted !== locale && locales.includes(wanted)) void switchLocale(wanted);
    // Only a change of the profile may switch; the language on screen changing must not switch it back.
    // eslint-disable-next-line hooks/exhaustive-deps
  }, [wanted]);
}

/** What others change shows without a reload. */
function useChanges(): void {
  const queries = useQueryClient();
  const { user } = useIdentity();
  useEffect(() => {
    const heard = import('./changes').then((code) => code.hearChanges(queries, user.id)).catch(() => null);
    return () => void heard.then((stop) => stop?.());
  }, [queries, user.id]);
}

function useGlobalKeys(change: (overlay: Overlay) => void): void {
  // At once, and not when React finds time: the next key already belongs to what opened.
  const show = useCallback(
    (overlay: Overlay) => {
      if (overlay === 'palette') holdKeys();
      flushSync(() => change(overlay));
    },
    [change],
  );
  const may = useMay();
  const navigate = useNavigate();
  useKeyboard();
  const settings = useSettingsPlaces();
  useEffect(() => void Palette.preload(), []);
  const jumps = useMemo(
    () =>
      [...DAILY, ...settings]
        .filter((item) => item.key && may(item.permission))
        .map((item) => ({ keys: `g ${item.key}`, label: item.label, run: () => void navigate({ to: item.to }) })),
    [may, navigate, settings],
  );
  useShortcuts(
    [
      { keys: '/', label: 'app.key_palette', run: () => show('palette') },
      { keys: '?', label: 'app.key_help', run: () => show('help') },
      ...jumps,
    ],
    'frame',
  );
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
