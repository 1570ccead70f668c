import { useEffect, useSyncExternalStore } from 'react';

/** The present second, while something counts down to it. */
export function useSeconds(counting: boolean): number {
  const now = useSyncExternalStore(subscribeSeconds, secondNow);
  useEffect(() => (counting ? countSeconds() : undefined), [counting]);
  return now;
}

let second = Date.now();
const ticking = new Set<() => void>();
const secondNow = () => second;
const subscribeSeconds = (tell: () => void) => (ticking.add(tell), () => ticking.delete(tell));
function countSeconds(): () => void {
  const timer = setInterval(() => {
    second = Date.now();
    ticking.forEach((tell) => tell());
  }, 500);
  return () => clearInterval(timer);
}
