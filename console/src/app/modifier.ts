/** The key that goes with K, as this machine's keyboard names it. */
export const MODIFIER = /Mac|iP/.test(navigator.platform) ? '⌘' : 'Ctrl';
