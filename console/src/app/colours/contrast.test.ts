import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { contrast, isColour, nearest, tint } from './colour';
import { CHECKS, judge, nearestLegible, paletteOf, ratioOf, shownRatio, wayOut } from './contrast';
import { DEFAULTS, GROUPS, NAMES, PAIRS } from './tokens';

const failing = (...themes: Record<string, string>[]) => judge(paletteOf(...themes)).filter((one) => !one.passes);
const TEAL = {
  accent: '#0f766e',
  'accent-text': '#0b5f58',
  focus: '#0f766e',
  'accent-soft': '#dcf3f0',
  'nav-active': '#dcf3f0',
  'nav-active-text': '#0b4f49',
};

describe('contrast', () => {
  it('is 21 between black and white and 1 between equals', () => {
    expect(contrast('#000000', '#ffffff')).toBeCloseTo(21, 10);
    expect(contrast('#3b49df', '#3b49df')).toBe(1);
  });
  it('does not depend on the order', () => expect(contrast('#14171f', '#f7f8fa')).toBe(contrast('#f7f8fa', '#14171f')));
  it('follows the standard around its bend', () => {
    expect(contrast('#767676', '#ffffff')).toBeCloseTo(4.5424, 3);
    expect(contrast('#777777', '#ffffff')).toBeLessThan(4.5);
  });
  it('of a tint is that of the mixed colour', () => {
    expect(tint('#000000', '#ffffff')).toBe('#e0e0e0');
    expect(tint('#0b6b3a', '#ffffff')).toBe('#e2ede7');
  });
  it('takes colours of six digits and nothing else', () => {
    expect(isColour('#A1b2C3')).toBe(true);
    for (const text of ['#fff', 'red', '#12345g', '#1234567', '#123456;', '']) expect(isColour(text)).toBe(false);
  });
});

describe('the gate', () => {
  it('has 86 checks over both modes', () => {
    expect(CHECKS).toHaveLength(86);
    expect(CHECKS.filter((check) => check.floor === 4.5)).toHaveLength(60);
  });
  it('lets the console’s own colours through', () => expect(failing()).toEqual([]));
  it('lets a legible brand through', () => expect(failing(TEAL)).toEqual([]));
  it('names every pair a colour breaks', () => {
    const broken = failing({ accent: '#9aa5ff' });
    expect(broken.map((one) => `${one.front} on ${one.ground}`)).toEqual(['on-accent on accent', 'accent on bg', 'accent on surface']);
    expect(shownRatio(broken[0]?.ratio ?? 0)).toBe(2.28);
  });
  it('looks at dark twins too', () =>
    expect(failing({ 'dark-text': '#444444' }).every((one) => one.mode === 'dark' && one.front === 'dark-text')).toBe(true));
  it('judges the merged set, not the sent one', () =>
    expect(
      failing({ bg: '#222222', 'surface-2': '#222222' }, { text: '#ffffff' }).some(
        (one) => one.front === 'text' && one.ground === 'surface',
      ),
    ).toBe(true));
  it('rounds downwards, so that a failure never reads as a pass', () => expect(shownRatio(4.4999)).toBe(4.49));
});

describe('the way out', () => {
  it('keeps the hue and passes every pair of the token', () => {
    const palette = paletteOf({ accent: '#9aa5ff' });
    const colour = nearestLegible('accent', palette);
    expect(colour).not.toBeNull();
    expect(failing({ accent: colour ?? '' })).toEqual([]);
  });
  it('is the nearest: one step back fails', () => {
    const grey = nearest('#888888', (colour) => contrast(colour, '#ffffff') >= 4.5);
    expect(grey).toMatch(/^#7[5-7]7[5-7]7[5-7]$/);
  });
  it('changes what was edited, not what lies beneath', () => {
    const palette = paletteOf({ bg: '#555555' });
    const check = judge(palette).find((one) => !one.passes && one.front === 'text-muted');
    expect(check && wayOut(check, { bg: '#555555' }, palette)?.token).toBe('bg');
  });
  it('does not exist when no colour can do', () => expect(nearest('#123456', () => false)).toBeNull());
});

describe('the tokens', () => {
  const server = readFileSync('../src/atrium/product/branding/tokens.py', 'utf8');
  const style = readFileSync('src/styles.css', 'utf8');
  const [, light = '', dark = ''] = /_LIGHT = \{(.*?)\n\}\n_DARK = \{(.*?)\n\}/s.exec(server) ?? [];
  const read = (text: string) => Object.fromEntries([...text.matchAll(/"([\w-]+)": "(#\w+)"/g)].map((match) => [match[1], match[2]]));

  it('are the server’s', () => {
    const twins = Object.entries(read(dark)).map(([name, value]) => [`dark-${name}`, value]);
    expect(DEFAULTS).toEqual({ ...read(light), ...Object.fromEntries(twins) });
  });
  it('are the stylesheet’s', () => {
    for (const name of NAMES) {
      const values = [...style.matchAll(new RegExp(`--${name}: (#[0-9a-f]{6});`, 'g'))].map((match) => match[1]);
      expect([name, ...values]).toEqual([name, DEFAULTS[name], DEFAULTS[`dark-${name}`]]);
    }
  });
  it('are each in one group', () => expect(Object.values(GROUPS).flat().sort()).toEqual([...NAMES].sort()));
  it('make 43 pairs', () => expect(PAIRS).toHaveLength(43));
  it('have a ratio in every pair', () => expect(CHECKS.every((check) => ratioOf(check, DEFAULTS) >= check.floor)).toBe(true));
});
