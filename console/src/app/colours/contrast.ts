/** The contrast gate, as the server keeps it: 86 pairs on the merged palette, and the way out of a pair that fails. */
import { contrast, nearest, tint } from './colour';
import { DEFAULTS, keyOf, MODES, PAIRS, SOFT, type Mode, type Theme } from './tokens';

export interface Check {
  mode: Mode;
  front: string;
  /** What it stands on; for a soft pair, the surface its tint lies on. */
  ground: string;
  soft: boolean;
  floor: number;
}

export interface Judged extends Check {
  ratio: number;
  passes: boolean;
}

export const CHECKS: Check[] = MODES.flatMap((mode) =>
  PAIRS.map(([front, ground, floor]) => {
    const soft = ground.endsWith(SOFT);
    return { mode, front: keyOf(mode, front), ground: keyOf(mode, soft ? 'surface' : ground), soft, floor };
  }),
);

/** Every token's value: the console's own, beneath it nothing, above it each theme in turn. */
export const paletteOf = (...themes: Theme[]): Theme => Object.assign({}, DEFAULTS, ...themes) as Theme;

export function ratioOf(check: Check, palette: Theme): number {
  const [front, ground] = [palette[check.front] ?? '', palette[check.ground] ?? ''];
  return contrast(front, check.soft ? tint(front, ground) : ground);
}

/** Compared unrounded: what fails by a hair fails. */
export const judge = (palette: Theme): Judged[] =>
  CHECKS.map((check) => {
    const ratio = ratioOf(check, palette);
    return { ...check, ratio, passes: ratio >= check.floor };
  });

/** To two places, downwards: what fails must not read as if it passed. */
export const shownRatio = (ratio: number): number => Math.floor(ratio * 100) / 100;

/** The colour nearest to a token's own with which every pair it belongs to passes. */
export function nearestLegible(token: string, palette: Theme): string | null {
  const own = palette[token];
  if (!own) return null;
  const checks = CHECKS.filter((check) => check.front === token || check.ground === token);
  return nearest(own, (colour) => {
    const trial = { ...palette, [token]: colour };
    return checks.every((check) => ratioOf(check, trial) >= check.floor);
  });
}

/** Which of the edited tokens of a failed pair to change, and to what. */
export function wayOut(check: Check, edited: Theme, palette: Theme): { token: string; colour: string } | null {
  for (const token of [check.front, check.ground]) {
    const colour = token in edited ? nearestLegible(token, palette) : null;
    if (colour) return { token, colour };
  }
  return null;
}
