/** The button that pins the screen, and what the palette knows about it. */
import { Pin as PinIcon } from 'lucide-react';
import { useEffect, useSyncExternalStore } from 'react';
import { useLanguage } from '@/i18n/language';
import { IconButton } from '@/ui/Overlay';
import { toast } from '@/ui/toast';
import { isSame, MOST_PINS, useAddress, usePins, type Pin } from './pins';
import { DAILY, PLACES } from './places';
import { useSettingsPlaces } from './settings-places';

const ITEM = /^\/(notes|documents|files|knowledge)\/[0-9a-f-]{36}$/;

interface Screen {
  title: string;
  /** The title is somebody's own words. */
  raw: boolean;
}

/** What a pin of this screen would be; none for the daily places, which are in the sidebar anyway, and for what is not there. */
function usePinOf({ title, raw }: Screen): Pin | null {
  const settings = useSettingsPlaces();
  const address = useAddress();
  const { path, at } = address;
  if (raw) return at || ITEM.test(path) ? { ...address, title } : null;
  const place = [...DAILY, ...settings].find(({ to }) => to === path);
  if (!place || at || PLACES.some(({ to }) => to === path)) return null;
  return { ...address, title, label: place.label, permission: place.permission };
}

export interface Pinning {
  pinned: boolean;
  toggle: () => void;
}

let now: Pinning | null = null;
const listeners = new Set<() => void>();

function announce(next: Pinning | null) {
  now = next;
  for (const listener of listeners) listener();
}

/** For the palette: whether the screen is pinned, and how to change that; it may open before the screen is there. */
export const usePinning = (): Pinning | null =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => now,
  );

export default function PinButton(screen: Screen) {
  const { t } = useLanguage();
  const { title, raw } = screen;
  const pin = usePinOf(screen);
  const { pins, add, remove, rename } = usePins();
  const kept = pin && pins.find((one) => isSame(one, pin));
  const toggle = () => {
    if (!pin) return;
    if (kept) remove(pin);
    else if (!add(pin)) toast(t('app.pins_full', { n: MOST_PINS }));
  };
  useEffect(() => {
    const mine = pin && { pinned: !!kept, toggle };
    announce(mine);
    return () => {
      if (now === mine) announce(null);
    };
  });
  const { path, at } = useAddress();
  // Only when its own title changes: two tabs that show different titles would rename the pin for ever.
  useEffect(() => {
    if (raw) rename({ path, at }, title);
  }, [raw, path, at, title, rename]);
  if (!pin) return null;
  return (
    <IconButton label={t(kept ? 'app.unpin' : 'app.pin')} onClick={toggle}>
      <PinIcon size={16} aria-hidden className={kept ? 'fill-current' : ''} />
    </IconButton>
  );
}
