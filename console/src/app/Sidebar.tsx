/** The daily places; inside Settings, its own list instead. */
import { Link, useRouterState } from '@tanstack/react-router';
import { BookOpen, ChevronsUpDown, DoorOpen, Keyboard, LogOut, Monitor, Moon, Search, Sun, UserRound } from 'lucide-react';
import { Avatar, Kbd } from '@/ui/bits';
import { Mark } from '@/ui/Mark';
import { IconButton, Menu, MenuContent, MenuItem, MenuSeparator } from '@/ui/Overlay';
import { useLanguage } from '@/i18n/language';
import type { Place } from './feature';
import { lazyExtra, lazyPart } from './lazily';
import { useLook } from './look';
import { MODIFIER } from './modifier';
import { PlaceLink } from './PlaceLink';
import { PLACES, placeOf, SETTINGS } from './places';
import { useIdentity, useMay } from './session';
import { useSignOut } from './signing-out';
import { chooseMode, useMode, type Mode } from './theme';

/** Without a title of its own, a workspace is called by its company's name. */
const PRODUCT = 'Atrium';
const NEXT: Record<Mode, Mode> = { system: 'light', light: 'dark', dark: 'system' };
const MODE_ICONS = { system: Monitor, light: Sun, dark: Moon };

const SettingsList = lazyPart(() => import('./SettingsList'));
const SidebarLists = lazyExtra(() => import('./SidebarLists'));

interface Props {
  onSearch: () => void;
  onHelp: () => void;
  /** On a phone the daily places stay: Settings is a page of its own there. */
  daily?: boolean;
}

export function Sidebar({ onSearch, onHelp, daily = false }: Props) {
  const { t } = useLanguage();
  const path = useRouterState({ select: (state) => state.location.pathname });
  const place = placeOf(path);
  return (
    <>
      <Whose />
      <div className="px-3 pb-2">
        <button
          type="button"
          onClick={onSearch}
          className="flex h-9 w-full items-center gap-2 rounded-md border border-line bg-surface px-2.5 text-muted shadow-card hover:bg-raised"
        >
          <Search size={15} aria-hidden />
          <span className="flex-1 truncate text-start">{t('app.search')}</span>
          <span className="flex gap-0.5"><Kbd>{MODIFIER}</Kbd><Kbd>K</Kbd></span>
        </button>
      </div>
      {place === SETTINGS && !daily
        ? <div className="flex-1 overflow-y-auto px-3 pb-4"><SettingsList /></div>
        : <DailyPlaces here={place} />}
      <Account onHelp={onHelp} />
    </>
  );
}

function Whose() {
  const { org, team } = useIdentity();
  const { title, logo } = useLook();
  const branded = title !== PRODUCT;
  return (
    <div className="flex items-center gap-2.5 px-4 pt-4 pb-3">
      <Mark logo={logo} />
      <div className="min-w-0">
        <div data-raw className="truncate leading-tight font-semibold">{branded ? title : org.name}</div>
        <div data-raw className="truncate text-xs text-muted">{branded ? `${org.name} · ${team.name}` : team.name}</div>
      </div>
    </div>
  );
}

function DailyPlaces({ here }: { here: Place | undefined }) {
  const { t } = useLanguage();
  const may = useMay();
  return (
    <div className="flex-1 overflow-y-auto px-3 pt-1 pb-4">
      <nav aria-label={t('app.navigation')}>
        <ul className="grid gap-0.5">
          {PLACES.filter((place) => may(place.permission)).map((place) => (
            <li key={place.to}><PlaceLink place={place} here={place === here} /></li>
          ))}
        </ul>
      </nav>
      <SidebarLists />
    </div>
  );
}

const ITEM = 'flex h-8 items-center gap-2.5 rounded-md px-2.5 outline-none data-highlighted:bg-raised';

function Account({ onHelp }: { onHelp: () => void }) {
  const { t } = useLanguage();
  const { user } = useIdentity();
  const mode = useMode();
  const ModeIcon = MODE_ICONS[mode];
  const signOut = useSignOut();
  return (
    <div className="flex items-center gap-1 border-t border-line p-2.5">
      <Menu.Root>
        <Menu.Trigger className="flex h-11 min-w-0 flex-1 items-center gap-2.5 rounded-md px-1.5 text-start hover:bg-raised">
          <Avatar name={user.display_name} />
          <span className="min-w-0 flex-1">
            <span data-raw className="block truncate leading-tight font-medium">{user.display_name}</span>
            {user.display_name !== user.username && <span data-raw className="block truncate text-xs text-muted">{user.username}</span>}
          </span>
          <span className="sr-only">{t('app.account_menu')}</span>
          <ChevronsUpDown size={14} className="shrink-0 text-muted" aria-hidden />
        </Menu.Trigger>
        <MenuContent align="start">
          <Menu.Item asChild>
            <Link to="/settings/profile" className={ITEM}>
              <UserRound size={15} aria-hidden />
              {t('nav.profile')}
            </Link>
          </Menu.Item>
          <Menu.Item asChild>
            <a href="/docs" className={ITEM}>
              <BookOpen size={15} aria-hidden />
              {t('app.reference')}
            </a>
          </Menu.Item>
          <MenuItem onSelect={onHelp}>
            <Keyboard size={15} aria-hidden />
            {t('app.key_help')}
          </MenuItem>
          <MenuSeparator />
          <MenuItem onSelect={() => void signOut()}><LogOut size={15} aria-hidden />{t('app.sign_out')}</MenuItem>
          <MenuItem onSelect={() => void signOut('everywhere')}><DoorOpen size={15} aria-hidden />{t('app.sign_out_everywhere')}</MenuItem>
        </MenuContent>
      </Menu.Root>
      <IconButton label={t(`app.mode_${mode}`)} onClick={() => chooseMode(NEXT[mode])}><ModeIcon size={16} aria-hidden /></IconButton>
    </div>
  );
}
