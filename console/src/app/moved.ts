/** Addresses of former consoles, in bookmarks and messages: what is configured now lives below `/settings`. */
const MOVED = /^\/(members|usage|features|audit|tokens|s3-keys|executors|company|instance|plugins)(?=[/?]|$)/;

/** Where the thing at an address is now, or null when it never was anywhere. */
export function movedTo(address: string): string | null {
  const account = /^\/account(\/\w+)?(.*)$/.exec(address);
  if (account) return `/settings${account[1] === '/preferences' ? '/appearance' : (account[1] ?? '/profile')}${account[2]}`;
  return MOVED.test(address) ? `/settings${address}` : null;
}
