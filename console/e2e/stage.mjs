// A team that looks like one, on a server of its own, and the people who look at its screens.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { examineBoth } from './axe.mjs';
import { allScreensOf, furnish } from './screens.mjs';
import { wordsOf } from './words.mjs';
import { closeAll, openBrowser, openPerson, openServer } from './world.mjs';

/** What a suite about screens starts from; filled before its first test. */
export function furnished() {
  const stage = {};
  before(async () => {
    [stage.browser, stage.server] = await Promise.all([openBrowser(), openServer()]);
    stage.team = await furnish(stage.server);
  });
  after(closeAll);
  return stage;
}

export const tokenFor = ({ team }, screen) => (screen.outside ? undefined : (screen.token ?? team.ada));

/** One browser profile for each person the screens are seen by. */
export async function peopleFor(stage, screens, options = {}) {
  const open = new Map();
  for (const token of new Set(screens.map((screen) => tokenFor(stage, screen)))) open.set(token, await openPerson(stage.browser, stage.server, { token, ...options }));
  return { for: (screen) => open.get(tokenFor(stage, screen)), close: () => Promise.all([...open.values()].map((person) => person.close())) };
}

export async function visit(person, screen) {
  await person.page.goto('about:blank');
  await person.go(screen.path);
  await screen.act?.(person.page);
  await person.page.waitForTimeout(150);
}

const WIDTHS = [320, 360, 768, 1024, 1440, 2560];

/** Both modes, every width, every target: one visit to each screen. */
export async function inspect(person, screen) {
  const { page } = person;
  await visit(person, screen);
  await examineBoth(page, screen.name);
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(over <= 0, `${screen.name} is ${over} px too wide at ${width} px`);
    if (width === 360) assert.deepEqual(await page.evaluate(smallTargets), [], `${screen.name}: targets below 24 px`);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
}

function smallTargets() {
  return [...document.querySelectorAll('button, a[href], select, input')].filter((one) => {
    const box = one.getBoundingClientRect();
    // A control inside a label is as large as its label; prose may link inline.
    return box.width > 1 && (box.width < 24 || box.height < 24) && !one.closest('label, .prose') && !one.matches('[hidden], p a');
  }).map((one) => one.outerHTML.slice(0, 100));
}

/** A quarter of all screens, each inspected once. */
export function everyFourth(first) {
  const stage = furnished();
  describe('axe finds nothing, and the layout holds', () => {
    it(`on every fourth screen from number ${first + 1}, light and dark, from 320 to 2560 px`, async (run) => {
      const screens = allScreensOf(stage.team, wordsOf('en')).filter((_, place) => place % 4 === first);
      const people = await peopleFor(stage, screens);
      for (const screen of screens) await run.test(screen.name, () => inspect(people.for(screen), screen));
      await people.close();
    });
  });
}
