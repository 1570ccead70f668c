/** One place to go anywhere and do anything; no keystroke is lost while it opens. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import clsx from 'clsx';
import { FileText, Folder, Keyboard, Moon, MousePointerClick, Pin, Puzzle, Search, Terminal, type LucideIcon } from 'lucide-react';
import { useDeferredValue, useEffect, useId, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { api, value } from '@/api/client';
import { Kbd } from '@/ui/bits';
import { useOpener } from '@/ui/opener';
import { RadixDialog } from '@/ui/Overlay';
import { COMMANDS, sectionKey, SETTINGS_PLACES } from './navigation';
import { usePinning, type Pinning } from './PinButton';
import { usePluginPages } from './plugin-pages';
import { DAILY } from './places';
import { useLanguage } from '@/i18n/language';
import { score } from './score';
import { takeHeldKeys } from './held-keys';
import { addressOf, ICONS } from './things';
import { useMay } from './session';
import { chooseMode } from './theme';

const LONGEST = 200;

interface Entry {
  id: string;
  label: string;
  group: 'actions' | 'pages' | 'found';
  icon: LucideIcon;
  hint?: string | undefined;
  raw?: boolean;
  run: () => void;
}

interface Props {
  onClose: () => void;
  onHelp: () => void;
  onCurl: () => void;
  onPoint: () => void;
}

function useEntries({ onHelp, onCurl, onPoint }: Omit<Props, 'onClose'>): Entry[] {
  const { t } = useLanguage();
  const may = useMay();
  const navigate = useNavigate();
  const pinning = usePinning();
  const ofPlugins = usePluginPages();
  return useMemo(() => {
    const go = (to: string) => () => void navigate({ to });
    const dark = document.documentElement.dataset.mode === 'dark';
    return [
      ...COMMANDS.filter((one) => may(one.permission)).map((one): Entry => ({
        id: one.to,
        label: t(one.label),
        group: 'actions',
        icon: one.icon,
        run: go(one.to),
      })),
      ...(pinning ? [pinEntry(pinning, t(pinning.pinned ? 'app.unpin' : 'app.pin'))] : []),
      { id: 'curl', label: t('app.curl_open'), group: 'actions', icon: Terminal, run: onCurl },
      { id: 'help', label: t('app.key_help'), group: 'actions', icon: Keyboard, hint: '?', run: onHelp },
      ...(may('localization:translate')
        ? [{ id: 'point', label: t('app.point'), group: 'actions', icon: MousePointerClick, run: onPoint } as const]
        : []),
      { id: 'mode', label: t('app.toggle_mode'), group: 'actions', icon: Moon, run: () => chooseMode(dark ? 'light' : 'dark') },
      ...DAILY.filter((one) => may(one.permission)).map((one) => pageOf(one, t(one.label), go(one.to))),
      ...ofPlugins.map(({ to, title }): Entry => ({ id: to, label: title, group: 'pages', icon: Puzzle, raw: true, run: go(to) })),
      ...SETTINGS_PLACES.filter((one) => may(one.permission)).map((one) =>
        pageOf(one, `${t(one.label)} · ${t(sectionKey(one.section))}`, go(one.to)),
      ),
    ];
  }, [t, may, navigate, onHelp, onCurl, onPoint, pinning, ofPlugins]);
}

const pinEntry = ({ toggle }: Pinning, label: string): Entry => ({ id: 'pin', label, group: 'actions', icon: Pin, run: toggle });

const pageOf = ({ to, key, icon = Folder }: { to: string; key?: string; icon?: LucideIcon }, label: string, run: () => void): Entry => ({
  id: to,
  label,
  group: 'pages',
  icon,
  hint: key && `G ${key.toUpperCase()}`,
  run,
});

/** What the reader may read, found as on the search page, which shows more of it. */
function useFound(typed: string): Entry[] {
  const { t } = useLanguage();
  const q = useDeferredValue(typed.trim().slice(0, LONGEST));
  const may = useMay();
  const navigate = useNavigate();
  const asks = q.length > 1 && may('search');
  const found = useQuery({
    queryKey: ['search', 'palette', q],
    queryFn: ({ signal }) => value(api.GET('/api/search', { params: { query: { q, limit: 6 } }, signal })),
    enabled: asks,
    placeholderData: keepPreviousData,
  });
  if (!asks) return [];
  return [
    ...(found.data?.items ?? []).map((one): Entry => ({
      id: one.id,
      label: one.title,
      group: 'found',
      icon: ICONS[one.kind] ?? FileText,
      raw: true,
      run: () => void navigate(addressOf(one)),
    })),
    {
      id: 'search',
      label: t('app.palette_search', { typed: q }),
      group: 'found',
      icon: Search,
      run: () => void navigate({ to: '/search', search: { q } as never }),
    },
  ];
}

export default function Palette({ onClose, onHelp, onCurl, onPoint }: Props) {
  const { t } = useLanguage();
  const id = useId();
  const giveBack = useOpener();
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const all = useEntries({ onHelp, onCurl, onPoint });
  const found = useFound(typed);
  const shown = useMemo(() => {
    if (!typed.trim()) return all;
    const ranked = all.map((entry) => [score(typed.trim(), entry.label), entry] as const).filter(([points]) => points >= 0);
    return [...ranked.sort((one, other) => other[0] - one[0]).map(([, entry]) => entry), ...found];
  }, [typed, all, found]);
  const chosen = Math.min(at, shown.length - 1);
  useEffect(() => {
    // In braces: scrolling gives a promise in newer browsers, and an effect must give nothing.
    void list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);

  const take = (entry?: Entry) => {
    if (!entry) return;
    onClose();
    entry.run();
  };
  const press = (event: KeyboardEvent) => {
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const step = moves[event.key];
    if (step !== undefined) setAt((chosen + step + shown.length) % Math.max(1, shown.length));
    else if (event.key === 'Enter') take(shown[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <RadixDialog.Root open onOpenChange={(open) => open || onClose()}>
      <RadixDialog.Portal>
        <RadixDialog.Overlay className="scrim" />
        <RadixDialog.Content
          aria-describedby={undefined}
          onCloseAutoFocus={giveBack}
          className="pop fixed start-1/2 top-[12vh] z-50 w-[calc(100vw-1.5rem)] max-w-xl -translate-x-1/2 overflow-hidden rounded-xl border border-line bg-surface shadow-pop rtl:translate-x-1/2"
        >
          <RadixDialog.Title className="sr-only">{t('app.palette_title')}</RadixDialog.Title>
          <div className="flex items-center gap-3 border-b border-line px-4">
            <Search size={17} className="shrink-0 text-muted" aria-hidden />
            <input
              autoFocus
              onFocus={() => {
                const held = takeHeldKeys();
                if (held) setTyped((now) => held + now);
              }}
              value={typed}
              onChange={(event) => { setTyped(event.target.value); setAt(0); }}
              onKeyDown={press}
              role="combobox"
              aria-expanded="true"
              aria-controls={id}
              aria-activedescendant={shown[chosen] ? `${id}-${chosen}` : undefined}
              aria-label={t('app.palette_title')}
              placeholder={t('app.palette_placeholder')}
              className="h-13 w-full bg-transparent text-lg outline-none"
            />
            <span className="shrink-0 max-sm:hidden"><Kbd>Esc</Kbd></span>
          </div>
          <div ref={list} id={id} role="listbox" aria-label={t('app.palette_title')} className="max-h-[52vh] overflow-y-auto p-2">
            {shown.map((entry, index) => (
              <div key={entry.id}>
                {shown[index - 1]?.group !== entry.group && !typed.trim() && (
                  <div role="presentation" className="px-2.5 pt-2 pb-1 text-xs font-medium text-muted">
                    {t(`app.palette_${entry.group}`)}
                  </div>
                )}
                <div
                  id={`${id}-${index}`}
                  role="option"
                  aria-selected={index === chosen}
                  onMouseMove={() => setAt(index)}
                  onClick={() => take(entry)}
                  className={clsx(
                    'flex h-10 cursor-pointer items-center gap-3 rounded-md px-2.5',
                    index === chosen && 'bg-accent-soft text-link',
                  )}
                >
                  <entry.icon size={16} className="shrink-0 opacity-80" aria-hidden />
                  <span data-raw={entry.raw || undefined} className="min-w-0 flex-1 truncate">{entry.label}</span>
                  {entry.hint && <span className="flex gap-1">{entry.hint.split(' ').map((key) => <Kbd key={key}>{key}</Kbd>)}</span>}
                </div>
              </div>
            ))}
            {shown.length === 0 && <div className="p-8 text-center text-muted">{t('app.palette_none', { typed })}</div>}
          </div>
        </RadixDialog.Content>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  );
}
