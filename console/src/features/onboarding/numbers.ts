/** How far visitors come: pure arithmetic over the days that the server counted. */
import type { Day } from './queries';

type Counts = Omit<Day, 'day'>;

export const isQuiet = (counts: Counts): boolean => counts.opened + counts.started + counts.refused + counts.received === 0;

export const totalsOf = (days: Day[]): Counts =>
  days.reduce(
    (sum, day) => ({
      opened: sum.opened + day.opened,
      started: sum.started + day.started,
      refused: sum.refused + day.refused,
      received: sum.received + day.received,
    }),
    { opened: 0, started: 0, refused: 0, received: 0 },
  );

export interface Loss {
  before: 'started' | 'received';
  lost: number;
  of: number;
}

/** Where most people stop; null when none did. A page that stays open is counted once and may send twice, so none are lost below zero. */
export function greatestLoss(totals: Counts): Loss | null {
  const losses = ([['opened', 'started'], ['started', 'received']] as const).map(
    ([from, to]): Loss => ({ before: to, lost: Math.max(0, totals[from] - totals[to]), of: totals[from] }),
  );
  const [first, second] = losses as [Loss, Loss];
  const greatest = second.lost > first.lost ? second : first;
  return greatest.lost > 0 ? greatest : null;
}

/** The last days up to today, those without a visitor too; days are UTC's, as the server counts them. */
export function calendarOf(days: Day[], today: string, length: number): Day[] {
  const known = new Map(days.map((day) => [day.day, day]));
  return Array.from({ length }, (_, at) => {
    const day = new Date(Date.parse(today) - (length - 1 - at) * 86_400_000).toISOString().slice(0, 10);
    return known.get(day) ?? { day, opened: 0, started: 0, refused: 0, received: 0 };
  });
}
