import { describe, expect, it } from 'vitest';
import { bytesOf, fullnessOf, partsOf } from './meter';

const amounts = (used: number, limit: number | null, reserved = 0) => ({ used, reserved, limit });

describe('how full a meter is', () => {
  it('stays calm below four fifths', () => expect(fullnessOf(amounts(79, 100))).toBe('calm'));
  it('warns from four fifths on', () => expect(fullnessOf(amounts(80, 100))).toBe('near'));
  it('is full at the limit and beyond it', () => {
    expect(fullnessOf(amounts(100, 100))).toBe('full');
    expect(fullnessOf(amounts(130, 100))).toBe('full');
  });
  it('counts what is reserved', () => {
    expect(fullnessOf(amounts(70, 100, 10))).toBe('near');
    expect(fullnessOf(amounts(70, 100, 30))).toBe('full');
  });
  it('is full when nothing is allowed', () => expect(fullnessOf(amounts(0, 0))).toBe('full'));
  it('is open without a limit, whatever was used', () => expect(fullnessOf(amounts(1e9, null))).toBe('open'));
});

describe('the parts of its bar', () => {
  it('lie side by side', () => expect(partsOf(amounts(50, 200, 20))).toEqual({ used: 25, reserved: 10 }));
  it('never leave the bar', () => expect(partsOf(amounts(90, 100, 30))).toEqual({ used: 90, reserved: 10 }));
  it('show the smallest amount', () => expect(partsOf(amounts(1, 1_000_000))).toEqual({ used: 1, reserved: 0 }));
  it('fill the bar of a limit of nothing', () => expect(partsOf(amounts(0, 0))).toEqual({ used: 100, reserved: 0 }));
  it('are nothing without a limit', () => expect(partsOf(amounts(5, null))).toEqual({ used: 0, reserved: 0 }));
});

describe('bytes', () => {
  it('read in the unit that suits them', () => {
    expect(bytesOf(0)).toEqual({ n: 0, unit: 'b' });
    expect(bytesOf(999)).toEqual({ n: 999, unit: 'b' });
    expect(bytesOf(1_000_000_000)).toEqual({ n: 1, unit: 'gb' });
    expect(bytesOf(1_234_567)).toEqual({ n: 1.2, unit: 'mb' });
  });
  it('never read as a thousand of a unit', () => expect(bytesOf(999_999)).toEqual({ n: 1, unit: 'mb' }));
});
