import { describe, expect, it } from 'vitest';
import { calendarOf, greatestLoss, totalsOf } from './numbers';

const day = (name: string, ...[opened, started, received, refused = 0]: [number, number, number, number?]) => ({
  day: name,
  opened,
  started,
  refused,
  received,
});

describe('the numbers of a form', () => {
  it('are summed over days', () => {
    const days = [day('2026-03-01', 5, 3, 1), day('2026-03-02', 2, 2, 2, 4)];
    expect(totalsOf(days)).toEqual({ opened: 7, started: 5, refused: 4, received: 3 });
  });

  it('tell where most people stop', () => {
    expect(greatestLoss({ opened: 100, started: 40, refused: 0, received: 30 })).toEqual({ before: 'started', lost: 60, of: 100 });
    expect(greatestLoss({ opened: 100, started: 90, refused: 0, received: 30 })).toEqual({ before: 'received', lost: 60, of: 90 });
  });

  it('lose none where more send than open', () => {
    expect(greatestLoss({ opened: 3, started: 5, refused: 0, received: 6 })).toBeNull();
  });

  it('have every day of the calendar, over the end of a month too', () => {
    const found = calendarOf([day('2026-02-28', 4, 2, 1)], '2026-03-01', 3);
    expect(found.map((one) => [one.day, one.opened])).toEqual([['2026-02-27', 0], ['2026-02-28', 4], ['2026-03-01', 0]]);
  });
});
