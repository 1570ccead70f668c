/** The arithmetic of a meter: how full it is, and how an amount reads. */
export interface Amounts {
  used: number;
  reserved: number;
  limit: number | null;
}

export type Fullness = 'open' | 'calm' | 'near' | 'full';
const NEAR = 0.8;

/** What is reserved counts: it is as good as spent until it is given back. */
export const takenOf = ({ used, reserved }: Amounts): number => used + reserved;

export function fullnessOf(amounts: Amounts): Fullness {
  if (amounts.limit === null) return 'open';
  const taken = takenOf(amounts);
  if (taken >= amounts.limit) return 'full';
  return taken >= amounts.limit * NEAR ? 'near' : 'calm';
}

/** The bar's two parts in percent; together never more than all of it, and what is there is never invisible. */
export function partsOf({ used, reserved, limit }: Amounts): { used: number; reserved: number } {
  if (!limit) return { used: limit === 0 ? 100 : 0, reserved: 0 };
  const part = (amount: number) => (amount > 0 ? Math.max(1, (amount / limit) * 100) : 0);
  const first = Math.min(100, part(used));
  return { used: first, reserved: Math.min(100 - first, part(reserved)) };
}

const UNITS = ['b', 'kb', 'mb', 'gb', 'tb', 'pb'] as const;
export type Unit = (typeof UNITS)[number];

/** Bytes in the largest unit that leaves a number people can read, to one decimal. */
export function bytesOf(bytes: number): { n: number; unit: Unit } {
  let n = bytes;
  let at = 0;
  while (n >= 999.95 && at < UNITS.length - 1) {
    n /= 1000;
    at += 1;
  }
  return { n: Math.round(n * 10) / 10, unit: UNITS[at] ?? 'b' };
}

/** What runs at this moment has no window: it is given back, not used up. */
export const isRunning = (dimension: string): boolean => dimension.endsWith('.concurrency');
