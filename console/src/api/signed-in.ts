/** Whether this browser is signed in: a mark that all tabs see and that opens nothing. The session is in a cookie that no script reads. */
export const SIGNED_IN = 'atrium.signed_in';

export const signedIn = {
  /** Another one after every sign-in; null while nobody is. */
  mark: (): string | null => localStorage.getItem(SIGNED_IN),
  set: (): void => localStorage.setItem(SIGNED_IN, `${Date.now()}`),
  clear: (): void => localStorage.removeItem(SIGNED_IN),
};
