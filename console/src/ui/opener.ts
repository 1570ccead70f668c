/** What had the focus before something opened over it gets it back afterwards, also when a field inside took it at once. */
import { useCallback, useState } from 'react';

export function useOpener(): (event: Event) => void {
  const [opener] = useState(() => document.activeElement);
  return useCallback(
    (event) => {
      if (!(opener instanceof HTMLElement) || !opener.isConnected) return;
      event.preventDefault();
      opener.focus();
    },
    [opener],
  );
}
