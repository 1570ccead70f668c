// What axe says about a page: zero violations of any impact.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const runOnly = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Axe comes in by the debugger, past the policy. */
export async function examine(page, name, rules = {}) {
  await still(page);
  await page.evaluate(axe);
  const { violations } = await page.evaluate((options) => window.axe.run(document, options), { runOnly, rules });
  assert.deepEqual(violations.map((one) => `${name}: ${one.id} ${one.nodes[0].target.join(' ')} ${one.nodes[0].failureSummary?.split('\n')[1] ?? ''}`), []);
}

/** The same in both modes. */
export async function examineBoth(page, name) {
  await examine(page, `${name} light`);
  await page.evaluate(() => { document.documentElement.dataset.mode = 'dark'; });
  await examine(page, `${name} dark`);
}

/** Colours and overlays have arrived: what fades has no contrast yet. What moves for ever, a spinner, is not waited for. */
const still = (page) => page.evaluate(async () => {
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  const ends = (animation) => Number.isFinite(animation.effect?.getComputedTiming().endTime);
  await Promise.allSettled(document.getAnimations().filter(ends).map((animation) => animation.finished));
});
