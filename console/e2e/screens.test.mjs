// Every screen: readable by everybody, at every width, in words that come from the catalogs.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, describe, it } from 'node:test';
import { closeServers, openBrowser, openPerson, openServer, wrongs } from './world.mjs';
import { allScreensOf, furnish, screensOf } from './screens.mjs';
import { wordsOf } from './words.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const t = wordsOf('en');
let browser, server, team, empty;
before(async () => {
  [browser, server, empty] = await Promise.all([openBrowser(), openServer(), openServer()]);
  team = await furnish(server);
});
after(async () => {
  await browser.close();
  await closeServers();
  assert.deepEqual(wrongs, []);
});

const tokenFor = (screen) => (screen.outside ? undefined : (screen.token ?? team.ada));

/** One browser profile for each person the screens are seen by. */
async function peopleFor(screens, options = {}) {
  const open = new Map();
  for (const token of new Set(screens.map(tokenFor))) open.set(token, await openPerson(browser, server, { token, ...options }));
  return { for: (screen) => open.get(tokenFor(screen)), close: () => Promise.all([...open.values()].map((person) => person.close())) };
}

async function visit(person, screen) {
  await person.page.goto('about:blank');
  await person.go(screen.path);
  await screen.act?.(person.page);
  await person.page.waitForTimeout(150);
}

/** Zero violations of any impact; axe comes in by the debugger, past the policy. */
async function examine(page, name, rules = {}) {
  await page.evaluate(axe);
  const runOnly = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
  const { violations } = await page.evaluate((options) => window.axe.run(document, options), { runOnly, rules });
  assert.deepEqual(violations.map((one) => `${name}: ${one.id} ${one.nodes[0].target.join(' ')} ${one.nodes[0].failureSummary?.split('\n')[1] ?? ''}`), []);
}

const WIDTHS = [320, 360, 768, 1024, 1440, 2560];

/** Both modes, every width, every target: one visit to each screen. */
async function inspect(person, screen) {
  const { page } = person;
  await visit(person, screen);
  await examine(page, `${screen.name} light`);
  await page.evaluate(() => { document.documentElement.dataset.mode = 'dark'; });
  await page.waitForTimeout(200);
  await examine(page, `${screen.name} dark`);
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

describe('axe finds nothing, and the layout holds', () => {
  it('on every screen, light and dark, from 320 to 2560 px', async (run) => {
    const screens = allScreensOf(team, t);
    const people = await peopleFor(screens);
    for (const screen of screens) await run.test(screen.name, () => inspect(people.for(screen), screen));
    await people.close();
  });

  it('on an instance nobody has set up', async () => {
    const person = await openPerson(browser, empty);
    await inspect(person, { name: 'first run', path: '/' });
    await person.close();
  });

  it('at 360 px', async (run) => {
    const person = await openPerson(browser, server, { token: team.ada, width: 360, height: 740 });
    for (const screen of screensOf(team, t).filter((one) => ['home', 'notes', 'note-write', 'members', 'token-new'].includes(one.name))) {
      await run.test(screen.name, async () => {
        await visit(person, screen);
        await examine(person.page, `${screen.name} 360 px`);
      });
    }
    await person.go('/');
    await person.page.getByRole('button', { name: t('app.open_menu') }).click();
    await person.page.getByRole('dialog').getByRole('link', { name: t('notes.title') }).waitFor();
    // Addresses begin with a hash here, so axe takes a link of the menu that is scrolled out of sight for one that skips to a place on the page.
    await examine(person.page, 'drawer', { 'skip-link': { enabled: false } });
    await person.page.setViewportSize({ width: 360, height: 1100 });
    await examine(person.page, 'the whole drawer');
    await person.close();
  });

  it('in dark mode from the first frame', async () => {
    const person = await openPerson(browser, server, { mode: 'dark' });
    await person.go('/sign-in');
    assert.equal(await person.page.evaluate(() => document.documentElement.dataset.mode), 'dark');
    await person.close();
  });

  it('on skeletons while the server is slow', async () => {
    const person = await openPerson(browser, server, { token: team.ada });
    await person.page.route(/\/api\/(notes|members|audit|admin|repo|documents|usage|org|jobs|executors)/, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 2500));
      await route.continue().catch(() => undefined);
    });
    for (const path of ['/notes', '/members', '/audit', '/instance', '/files', '/shared', '/documents', '/jobs', '/executors', '/usage', '/company', '/instance/companies', '/company/branding']) {
      await person.page.goto('about:blank');
      await person.page.goto(`${server.address}/#${path}`);
      await person.page.locator('.skeleton').first().waitFor();
      await examine(person.page, `${path} loading`);
    }
    await person.close();
  });
});

describe('the layout', () => {
  it('mirrors from right to left', async () => {
    const person = await openPerson(browser, server, { token: team.ada });
    await person.go('/members');
    await person.page.evaluate(() => { document.documentElement.dir = 'rtl'; });
    assert.ok((await person.page.locator('aside').first().boundingBox()).x > 900);
    assert.ok((await person.page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)) <= 0);
    await person.close();
  });

  it('does not jump while it loads', async () => {
    for (const path of ['/sign-in', '/', '/notes', '/members']) {
      const person = await openPerson(browser, server, { token: tokenFor({ outside: path === '/sign-in' }) });
      await person.page.addInitScript(() => {
        window.__shift = 0;
        new PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.__shift += entry.value; }).observe({ type: 'layout-shift', buffered: true });
      });
      await person.go(path);
      await person.page.waitForTimeout(300);
      const shift = await person.page.evaluate(() => window.__shift);
      assert.ok(shift < 0.1, `${path} shifts by ${shift.toFixed(3)}`);
      await person.close();
    }
  });
});

describe('every word comes from the catalogs', () => {
  it('on any screen', async () => {
    const wrapped = (key, values) => `⟦${t(key, values)}⟧`;
    const screens = allScreensOf(team, wrapped);
    const people = await peopleFor(screens, { wrap: true });
    const strangers = [];
    for (const screen of screens) {
      const person = people.for(screen);
      await visit(person, screen);
      strangers.push(...(await person.page.evaluate(foreignText)).map((text) => `${screen.name}: ${text}`));
    }
    assert.deepEqual(strangers, []);
    await people.close();
  });
});

/** Texts and spoken labels outside brackets, unless they are somebody's own words (data-raw). */
function foreignText() {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const owner = node.parentElement;
    if (!/\p{L}{2,}/u.test(node.data) || owner.closest('[data-raw], script, style')) continue;
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
