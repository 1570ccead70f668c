/** The session's token: one per browser, shared by its tabs, gone at sign-out. */
const KEY = 'atrium.session';
const listeners = new Set<() => void>();

export const credential = {
  get: (): string | null => localStorage.getItem(KEY),
  set(token: string): void {
    localStorage.setItem(KEY, token);
    listeners.forEach((tell) => tell());
  },
  clear(): void {
    localStorage.removeItem(KEY);
    listeners.forEach((tell) => tell());
  },
  /** Called when this or another tab signs in or out. */
  subscribe(tell: () => void): () => void {
    const heard = (event: StorageEvent) => event.key === KEY && tell();
    listeners.add(tell);
    addEventListener('storage', heard);
    return () => {
      listeners.delete(tell);
      removeEventListener('storage', heard);
    };
  },
};
