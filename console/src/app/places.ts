/** The daily places of every feature and the tabs below them, in order. */
import { Settings } from 'lucide-react';
import type { Place, Sidebar, Tab } from './feature';

const found = Object.values(import.meta.glob<Sidebar>('../features/*/sidebar.ts', { eager: true, import: 'default' }));
const inOrder = <One extends { order: number }>(list: One[]): One[] => list.sort((one, other) => one.order - other.order);

export const SETTINGS: Place = { to: '/settings', label: 'nav.settings', icon: Settings, key: 's', order: 100 };
export const PLACES: Place[] = inOrder([...found.flatMap((feature) => feature.places ?? []), SETTINGS]);
const TABS: Tab[] = inOrder(found.flatMap((feature) => feature.tabs ?? []));

const isBelow = (path: string, to: string): boolean => path === to || (to !== '/' && path.startsWith(`${to}/`));

/** The closest of several addresses above a path: `/settings/company/people` is not also `/settings/company`. */
export function closest<One extends { to: string }>(list: One[], path: string): One | undefined {
  return list.filter(({ to }) => isBelow(path, to)).sort((one, other) => other.to.length - one.to.length)[0];
}

/** Where an address belongs in the sidebar. */
export function placeOf(path: string): Place | undefined {
  const tab = closest(TABS, path);
  return tab ? PLACES.find(({ to }) => to === tab.of) : closest(PLACES, path);
}

/** The views beside the one at this address; none on a page below one of them. */
export function tabsAt(path: string): Tab[] {
  const here = TABS.find(({ to }) => to === path);
  return here ? TABS.filter((tab) => tab.of === here.of) : [];
}

/** Everything a letter after G leads to without Settings being loaded. */
export const DAILY = [...PLACES, ...TABS.filter((tab) => tab.to !== tab.of)];
