import { useEffect } from 'react';
import { useLook } from './look';

/** What the browser's tab says while this screen is up. */
export function useTitle(title: string): void {
  const look = useLook();
  useEffect(() => {
    document.title = `${title} · ${look.title}`;
  }, [title, look.title]);
}
