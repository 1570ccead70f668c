// A team that looks like one, on a server of its own, the people who look at its screens, and what is looked for there.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CONTRAST, darken, examineBoth, still, violationsOf } from './axe.mjs';
import { allScreensOf, furnish } from './screens.mjs';
import { bracketedWords, makeWhere } from './where.mjs';
import { wordsOf } from './words.mjs';
import { closeAll, openBrowser, openPerson, openServer } from './world.mjs';

/** What a suite about screens starts from; filled before its first test. */
export function furnished(fill = furnish) {
  const stage = {};
  before(async () => {
    [stage.browser, stage.server] = await Promise.all([openBrowser(), openServer()]);
    stage.team = await fill(stage.server);
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
  await person.settled();
  await still(person.page);
}

const SIZE = { width: 1280, height: 800 };
const WIDTHS = [320, 768, 1440];
export const EVERY_WIDTH = [320, 360, 768, 1024, 1440, 2560];

/** What does not fit at these widths, and what is too small to touch on a phone. */
export async function misfits(page, widths) {
  const found = [];
  for (const width of widths) {
    await page.setViewportSize({ ...SIZE, width });
    const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    if (over > 0) found.push(`${over} px too wide at ${width} px`);
    if (width <= 360) found.push(...(await page.evaluate(smallTargets)).map((one) => `a target below 24 px at ${width} px: ${one}`));
  }
  await page.setViewportSize(SIZE);
  return found;
}

function smallTargets() {
  return [...document.querySelectorAll('button, a[href], select, input')].filter((one) => {
    const box = one.getBoundingClientRect();
    // A control inside a label is as large as its label; prose may link inline.
    return box.width > 1 && (box.width < 24 || box.height < 24) && !one.closest('label, .prose') && !one.matches('[hidden], p a');
  }).map((one) => one.outerHTML.slice(0, 100));
}

/** Both modes by all rules, every width, every target: one visit to each screen. */
export async function inspect(person, screen) {
  await visit(person, screen);
  await examineBoth(person.page, screen.name);
  assert.deepEqual(await misfits(person.page, EVERY_WIDTH), [], screen.name);
}

/** A quarter of all screens in their own words, each inspected once. */
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

/** Everything wrong with a screen under the bracketed catalog: words from elsewhere, what axe finds, contrast in the dark, widths. */
async function wrongsOf({ page }) {
  const strangers = (await page.evaluate(foreignText)).map((text) => `not from the catalogs: ${text}`);
  const light = await violationsOf(page, 'light');
  await darken(page);
  const dark = await violationsOf(page, 'dark', { only: CONTRAST });
  await page.evaluate(takeBrackets);
  return [...strangers, ...light, ...dark, ...(await misfits(page, WIDTHS))];
}

/** Back to the words as people read them: brackets make a text wider than it is. */
export function takeBrackets() {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) if (/[⟦⟧]/.test(node.data)) node.data = node.data.replace(/⟦[\u2060-\u2064]*|⟧/g, '');
}

/** The screens that ATRIUM_SCREENS names, with commas between them; all of them otherwise. */
const named = process.env.ATRIUM_SCREENS?.split(',');

/** A part of all screens, each visited once and looked at for everything. */
export function sweep(first, parts) {
  const stage = furnished();
  describe('every word comes from the catalogs, axe finds nothing, and the layout holds', () => {
    it(`on every screen, part ${first + 1} of ${parts}`, async (run) => {
      const where = makeWhere();
      const screens = allScreensOf(stage.team, bracketedWords('en')).filter(({ name }, place) => place % parts === first && (named?.includes(name) ?? true));
      const people = await peopleFor(stage, screens, { wrap: true });
      for (const screen of screens) {
        await run.test(screen.name, async () => {
          const person = people.for(screen);
          await visit(person, screen);
          await where.see(person.page, screen);
          assert.deepEqual(await wrongsOf(person), []);
        });
      }
      assert.ok(named || where.count() > 1000 / parts, `only ${where.count()} messages were seen on a screen`);
      await people.close();
    });
  });
}

/** Texts and spoken labels outside brackets, unless they are somebody's own words (data-raw, or typed into a field). */
export function foreignText() {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const owner = node.parentElement;
    if (!/\p{L}{2,}/u.test(node.data) || owner.closest('[data-raw], script, style, textarea')) continue;
    let whole = owner;
    while (whole && !/⟦[\s\S]*⟧/.test(whole.textContent) && whole.parentElement) whole = whole.parentElement;
    // A message with tags is split over nodes; its brackets are on an ancestor that holds little more than it.
    const before = document.createRange();
    before.setStart(whole, 0);
    before.setEnd(node, node.data.length);
    const text = before.toString();
    if (text.split('⟦').length - text.split('⟧').length < 1 && !node.data.includes('⟧')) found.push(node.data.trim().slice(0, 60));
  }
  for (const element of document.querySelectorAll('[aria-label], [placeholder], [title]')) {
    if (element.closest('[data-raw]')) continue;
    for (const name of ['aria-label', 'placeholder', 'title']) {
      const text = element.getAttribute(name);
      if (text && /\p{L}{2,}/u.test(text) && !text.includes('⟦') && !element.matches('[role=switch], pre')) found.push(`${name}: ${text.slice(0, 60)}`);
    }
  }
  return found;
}
