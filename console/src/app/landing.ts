/**
 * The server's four addresses all give the same page; the path decides the first screen and then makes way for the `#`.
 * Where the root shows strangers the sign-up form, the console stays at the address that a reload finds it at.
 */
let activation = '';

export function landOn(path: string): void {
  const home = window.atrium.facts.home === 'beta' ? '/index.html' : '/';
  if (path === '/activate') {
    // A one-time token must not stay in the address bar, where it would be copied along.
    activation = decodeURIComponent(location.hash.slice(1).replace(/^token=/, ''));
    history.replaceState(null, '', `${home}#/activate`);
  } else if (path === '/login' && !location.hash) {
    history.replaceState(null, '', `${home}#/sign-in`);
  } else if (path !== home) {
    history.replaceState(null, '', `${home}${location.search}${location.hash}`);
  }
}

/** The token of an activation link, if the page was opened by one. */
export const activationToken = (): string => activation;
