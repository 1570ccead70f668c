/** The server's four addresses all give the same page; the path decides the first screen and then makes way for the `#`. */
let activation = '';

export function landOn(path: string): void {
  if (path === '/activate') {
    // A one-time token must not stay in the address bar, where it would be copied along.
    activation = decodeURIComponent(location.hash.slice(1).replace(/^token=/, ''));
    history.replaceState(null, '', '/#/activate');
  } else if (path === '/login' && !location.hash) {
    history.replaceState(null, '', '/#/sign-in');
  } else if (path !== '/') {
    history.replaceState(null, '', `/${location.search}${location.hash}`);
  }
}

/** The token of an activation link, if the page was opened by one. */
export const activationToken = (): string => activation;
