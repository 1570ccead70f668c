// What axe says about a page: zero violations of any impact.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** The whole product of rules, modes, languages and directions with ATRIUM_FULL=1: a proof, run by command. */
export const FULL = Boolean(process.env.ATRIUM_FULL);
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
export const CONTRAST = ['color-contrast'];

/** What axe finds by all rules, or by those named in `only`. It comes in by the debugger, past the policy. */
export async function violationsOf(page, name, { rules = {}, only = TAGS } = {}) {
  await still(page);
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe);
  const { violations } = await page.evaluate((options) => window.axe.run(document, options), { runOnly: only, rules, resultTypes: ['violations'] });
  return violations.map((one) => `${name}: ${one.id} ${one.nodes[0].target.join(' ')} ${one.nodes[0].failureSummary?.split('\n')[1] ?? ''}`);
}

export async function examine(page, name, rules = {}) {
  assert.deepEqual(await violationsOf(page, name, { rules }), []);
}

export const darken = (page) => page.evaluate(() => { document.documentElement.dataset.mode = 'dark'; });

/** All rules in the light; in the dark only what may differ there, the contrast. */
export async function examineBoth(page, name) {
  await examine(page, `${name} light`);
  await darken(page);
  assert.deepEqual(await violationsOf(page, `${name} dark`, FULL ? {} : { only: CONTRAST }), []);
}

/** Colours and overlays have arrived: what fades has no contrast yet. What moves for ever, a spinner, is not waited for. */
export const still = (page) => page.evaluate(async () => {
  await document.fonts.ready;
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  const ends = (animation) => Number.isFinite(animation.effect?.getComputedTiming().endTime);
  await Promise.allSettled(document.getAnimations().filter(ends).map((animation) => animation.finished));
});
