/** The look on screen: the hostname's until somebody signs in, then their company's. boot.js wears it before the first paint. */
import { useSyncExternalStore } from 'react';

const KEY = 'atrium.look';
const listeners = new Set<() => void>();
let current: Look = window.atrium.look;

/** Wear a look at once, and remember it for this address: the next load starts with it. */
export function applyBranding({ title, tagline, logo, theme }: Look): void {
  current = window.atrium.look = { title, tagline, logo, theme };
  window.atrium.applyTheme(theme);
  remember(current);
  listeners.forEach((tell) => tell());
}

function remember(look: Look): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(look));
  } catch {
    // A full storage costs one frame in the hostname's colours, nothing else.
  }
}

/** Whoever signs in next must not start in the colours of who was here before. */
export const forgetLook = (): void => localStorage.removeItem(KEY);

export const useLook = (): Look => useSyncExternalStore((tell) => (listeners.add(tell), () => listeners.delete(tell)), () => current);
