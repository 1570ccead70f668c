/** The places of Settings, once they are loaded: the first screen does not wait for them. */
import { useEffect, useState } from 'react';
import type { SettingsPlace } from './feature';

export function useSettingsPlaces(): SettingsPlace[] {
  const [places, setPlaces] = useState<SettingsPlace[]>([]);
  useEffect(() => {
    import('./navigation').then((found) => setPlaces(found.SETTINGS_PLACES)).catch(() => undefined);
  }, []);
  return places;
}
