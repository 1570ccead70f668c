import { Link, useRouterState } from '@tanstack/react-router';
import clsx from 'clsx';
import { BookOpen, ChevronsUpDown, Keyboard, LogOut, Monitor, Moon, Search, Sun, UserRound } from 'lucide-react';
import { credential } from '@/api/credential';
import { Avatar, Kbd } from '@/ui/bits';
import { Mark } from '@/ui/Mark';
import { IconButton, Menu, MenuContent, MenuItem, MenuSeparator } from '@/ui/Overlay';
import type { Group, NavigationItem } from './feature';
import { NAVIGATION } from './navigation';
import { MODIFIER } from './modifier';
import { useLanguage } from './language';
import { useLook } from './look';
import { useIdentity, useMay } from './session';
import { chooseMode, useMode, type Mode } from './theme';

const GROUPS = ['workspace', 'team', 'company', 'instance'] as const satisfies Group[];
/** Without a title of its own, a workspace is called by its company's name. */
const PRODUCT = 'Atrium';
const NEXT: Record<Mode, Mode> = { system: 'light', light: 'dark', dark: 'system' };
const MODE_ICONS = { system: Monitor, light: Sun, dark: Moon };

export function Sidebar({ onSearch, onHelp }: { onSearch: () => void; onHelp: () => void }) {
  const { t } = useLanguage();
  const may = useMay();
  const { org, team } = useIdentity();
  const { title, logo } = useLook();
  const branded = title !== PRODUCT;
  return (
    <>
      <div className="flex items-center gap-2.5 px-4 pt-4 pb-3">
        <Mark logo={logo} />
        <div className="min-w-0">
          <div data-raw className="truncate leading-tight font-semibold">{branded ? title : org.name}</div>
          <div data-raw className="truncate text-xs text-muted">{branded ? `${org.name} · ${team.name}` : team.name}</div>
        </div>
      </div>
      <div className="px-3 pb-2">
        <button type="button" onClick={onSearch} className="flex h-9 w-full items-center gap-2 rounded-md border border-line bg-surface px-2.5 text-muted shadow-card hover:bg-raised">
          <Search size={15} aria-hidden />
          <span className="flex-1 truncate text-start">{t('app.search')}</span>
          <span className="flex gap-0.5"><Kbd>{MODIFIER}</Kbd><Kbd>K</Kbd></span>
        </button>
      </div>
      <nav aria-label={t('app.navigation')} className="flex-1 overflow-y-auto px-3 pb-4">
        {GROUPS.map((group) => <NavigationGroup key={group} group={group} items={NAVIGATION.filter((item) => item.group === group && may(item.permission))} />)}
      </nav>
      <Account onHelp={onHelp} />
    </>
  );
}

function NavigationGroup({ group, items }: { group: (typeof GROUPS)[number]; items: NavigationItem[] }) {
  const { t } = useLanguage();
  const path = useRouterState({ select: (state) => state.location.pathname });
  if (items.length === 0) return null;
  return (
    <div className="pt-3">
      <h2 className="px-2 pb-1 text-xs font-medium text-muted">{t(`app.group_${group}`)}</h2>
      <ul className="grid gap-0.5">
        {items.map((item) => {
          const here = item === placeOf(path);
          return (
            <li key={item.to}>
              <Link to={item.to} aria-current={here ? 'page' : undefined} className={clsx('flex h-8 items-center gap-2.5 rounded-md px-2', here ? 'bg-nav-active font-medium text-nav-active-text' : 'text-nav-text hover:bg-raised')}>
                <item.icon size={16} aria-hidden className="shrink-0" />
                <span className="truncate">{t(item.label)}</span>
              </Link>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

/** The closest place above an address: `/company/people` is not also `/company`. */
const placeOf = (path: string): NavigationItem | undefined => NAVIGATION.filter(({ to }) => path === to || (to !== '/' && path.startsWith(`${to}/`))).sort((one, other) => other.to.length - one.to.length)[0];

function Account({ onHelp }: { onHelp: () => void }) {
  const { t } = useLanguage();
  const { user } = useIdentity();
  const mode = useMode();
  const ModeIcon = MODE_ICONS[mode];
  const signOut = () => {
    credential.clear();
    location.hash = '#/sign-in';
    location.reload();
  };
  return (
    <div className="flex items-center gap-1 border-t border-line p-2.5">
      <Menu.Root>
        <Menu.Trigger className="flex h-11 min-w-0 flex-1 items-center gap-2.5 rounded-md px-1.5 text-start hover:bg-raised">
          <Avatar name={user.display_name} />
          <span className="min-w-0 flex-1">
            <span data-raw className="block truncate leading-tight font-medium">{user.display_name}</span>
            <span data-raw className="block truncate text-xs text-muted">{user.username}</span>
          </span>
          <span className="sr-only">{t('app.account_menu')}</span>
          <ChevronsUpDown size={14} className="shrink-0 text-muted" aria-hidden />
        </Menu.Trigger>
        <MenuContent align="start">
          <Menu.Item asChild><Link to="/account/profile" className="flex h-8 items-center gap-2.5 rounded-md px-2.5 outline-none data-highlighted:bg-raised"><UserRound size={15} aria-hidden />{t('account.title')}</Link></Menu.Item>
          <Menu.Item asChild><a href="/docs" className="flex h-8 items-center gap-2.5 rounded-md px-2.5 outline-none data-highlighted:bg-raised"><BookOpen size={15} aria-hidden />{t('app.reference')}</a></Menu.Item>
          <MenuItem onSelect={onHelp}><Keyboard size={15} aria-hidden />{t('app.key_help')}</MenuItem>
          <MenuSeparator />
          <MenuItem onSelect={signOut}><LogOut size={15} aria-hidden />{t('app.sign_out')}</MenuItem>
        </MenuContent>
      </Menu.Root>
      <IconButton label={t(`app.mode_${mode}`)} onClick={() => chooseMode(NEXT[mode])}><ModeIcon size={16} aria-hidden /></IconButton>
    </div>
  );
}
