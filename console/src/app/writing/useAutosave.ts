/** Autosave for as long as a text is on screen: saved when the page goes away and when the line is back. */
import { useEffect, useState, useSyncExternalStore } from 'react';
import { useIdentity } from '../session';
import { Autosave, type Server, type Snapshot, type Written } from './autosave';

export function useAutosave<Kept extends Written>(
  kept: Kept,
  server: Server<Kept>,
): { autosave: Autosave<Kept>; snapshot: Snapshot<Kept> } {
  const { user } = useIdentity();
  const [autosave] = useState(() => new Autosave(kept, user.id, server));
  const snapshot = useSyncExternalStore(autosave.subscribe, autosave.read);
  useEffect(() => autosave.refresh(kept), [autosave, kept]);
  useEffect(() => {
    const save = () => void autosave.flush();
    addEventListener('pagehide', save);
    addEventListener('online', save);
    return () => {
      removeEventListener('pagehide', save);
      removeEventListener('online', save);
      autosave.stop();
    };
  }, [autosave]);
  return { autosave, snapshot };
}
