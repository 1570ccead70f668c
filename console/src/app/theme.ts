/** Light, dark, or what the system says. boot.js does the same before the first paint. */
import { useSyncExternalStore } from 'react';

export type Mode = 'light' | 'dark' | 'system';
const KEY = 'atrium.mode';
const system = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();

export const chosenMode = (): Mode => {
  const kept = localStorage.getItem(KEY);
  return kept === 'light' || kept === 'dark' ? kept : 'system';
};

export function chooseMode(mode: Mode): void {
  localStorage.setItem(KEY, mode);
  apply();
}

function apply(): void {
  const mode = chosenMode();
  document.documentElement.dataset.mode = mode === 'dark' || (mode === 'system' && system.matches) ? 'dark' : 'light';
  listeners.forEach((tell) => tell());
}

system.addEventListener('change', apply);

export function useMode(): Mode {
  return useSyncExternalStore((tell) => (listeners.add(tell), () => listeners.delete(tell)), chosenMode);
}
