// Code that does not arrive: no connection, an upgrade, a slow line. Never a dead tab, never a loop, nothing of /api kept.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { examineBoth, still } from './axe.mjs';
import { call, closeAll, found, openBrowser, openLine, openPerson, openServer, PATIENCE, until } from './world.mjs';
import { LOCALES, wordsOf } from './words.mjs';

const t = wordsOf('en');
let browser, server, ada;
before(async () => {
  [browser, server] = await Promise.all([openBrowser(), openServer()]);
  ada = await found(server);
});
after(closeAll);

const heading = (page, name) => page.getByRole('heading', { name, level: 1, exact: true }).waitFor();
/** Settings and its list, from where every other place is one click away. */
async function openSettings(person, words = t) {
  await person.go('/settings/profile');
  await person.page.getByRole('navigation').getByRole('link', { name: words('nav.usage'), exact: true }).waitFor();
}
const goTo = (page, name) => page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
const retry = (page, words = t) => page.getByRole('button', { name: words('ui.retry'), exact: true }).first();
/** The worker looks after this page, which it does once it holds the whole build. */
const kept = (page) => page.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
const feature = (page, words = t) => page.getByRole('switch', { name: words('features.feature_chat'), exact: true }).waitFor();

describe('a click without a connection, with the console kept', () => {
  for (const locale of LOCALES) {
    it(`opens the page and waits for its content in ${locale}`, async () => {
      const words = wordsOf(locale);
      await call(server, '/api/profile', { token: ada, body: { locale } });
      const line = await openLine(server);
      const person = await openPerson(browser, line, { locale, token: ada });
      const { page } = person;
      await openSettings(person, words);
      await kept(page);

      line.cut();
      await goTo(page, words('nav.features'));
      await heading(page, words('nav.features'));
      await page.getByText(words('errors.unreachable')).first().waitFor();
      line.mend();
      await retry(page, words).click();
      await feature(page, words);

      line.cut();
      await page.reload();
      await page.getByText(words('errors.unreachable')).first().waitFor();
      line.mend();
      await retry(page, words).click();
      await feature(page, words);
      await person.close();
      line.close();
    });
  }
  after(() => call(server, '/api/profile', { token: ada, body: { locale: 'en' } }));
});

describe('a click without a connection, where there is no service worker', () => {
  it('says so, and opens the page once the line is back', async () => {
    const line = await openLine(server);
    const person = await openPerson(browser, line, { token: ada, worker: false });
    const { page } = person;
    await openSettings(person);

    line.cut();
    await goTo(page, t('nav.members'));
    await page.getByText(t('app.unloaded_body')).waitFor();
    await page.getByRole('navigation').getByRole('link', { name: t('nav.usage'), exact: true }).waitFor();
    await retry(page).click();
    await page.getByText(t('app.unloaded_still')).waitFor();
    await examineBoth(page, 'a page that did not load');
    line.mend();
    await retry(page).click();

    await page.getByRole('cell', { name: 'Ada Lovelace' }).waitFor();
    await person.close();
    line.close();
  });

  it('opens the page by itself when the browser says that the line is back', async () => {
    const person = await openPerson(browser, server, { token: ada, worker: false });
    const { page, context } = person;
    await openSettings(person);
    await context.setOffline(true);
    await goTo(page, t('nav.members'));
    await page.getByText(t('app.unloaded_body')).waitFor();

    await context.setOffline(false);

    await page.getByRole('cell', { name: 'Ada Lovelace' }).waitFor();
    await person.close();
  });

  it('leaves a page as it is when a part of it cannot be loaded', async () => {
    const person = await openPerson(browser, server, { token: ada, worker: false });
    const { page, context } = person;
    await person.go('/settings/members');
    await context.setOffline(true);
    await page.getByRole('button', { name: t('app.curl_open') }).click();
    await page.getByTestId('toast').getByText(t('app.part_unloaded')).waitFor();
    await page.getByRole('cell', { name: 'Ada Lovelace' }).waitFor();

    await context.setOffline(false);
    await page.getByRole('button', { name: t('app.curl_open') }).click();

    await page.getByRole('dialog').waitFor();
    await person.close();
  });
});

describe('after an upgrade', () => {
  const gone = (route) => route.fulfill({ status: 404, json: { code: 'console.asset_missing' } });
  const newer = async (route) => {
    const answer = await route.fetch({ timeout: PATIENCE });
    await route.fulfill({ response: answer, body: (await answer.text()).replace(/assets\/index-[\w-]+\.js/, 'assets/index-upgraded.js') });
  };

  it('a tab loads the new build once, at the address it was going to', async () => {
    const person = await openPerson(browser, server, { token: ada, worker: false });
    const { page } = person;
    await openSettings(person);
    await page.route('**/assets/MembersPage-*.js', gone);
    let asked = 0;
    // What the tab asks for is the new page; what it then opens is the build that serves it.
    await page.route(`${server.address}/`, (route) => (route.request().isNavigationRequest() ? page.unroute('**/assets/MembersPage-*.js').then(() => route.continue()) : (asked++, newer(route))));

    await goTo(page, t('nav.members'));

    await page.getByRole('cell', { name: 'Ada Lovelace' }).waitFor();
    assert.ok(asked > 0, 'nobody asked which build is served');
    await person.close();
  });

  it('a tab that finds the new build broken too stays, and asks', async () => {
    const person = await openPerson(browser, server, { token: ada, worker: false });
    const { page } = person;
    let loads = 0;
    let asked = 0;
    await openSettings(person);
    await page.route('**/assets/MembersPage-*.js', gone);
    await page.route(`${server.address}/`, (route) => (route.request().isNavigationRequest() ? (loads++, route.continue()) : newer(route).then(() => { asked++; })));

    await goTo(page, t('nav.members'));
    await page.waitForFunction(() => performance.getEntriesByType('navigation')[0]?.type === 'reload');
    await page.getByText(t('app.unloaded_body')).waitFor();
    await until('it asks which build is served', () => asked === 2);
    // What is asked later is answered later: a tab that were to load once more would not be here.
    await page.evaluate(async () => (await fetch('/', { cache: 'no-store' })).text());
    await still(page);

    assert.equal(loads, 1);
    await person.close();
  });
});

describe('the service worker', () => {
  it('keeps the build, nothing below /api, and no build but its own and the one before', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await page.goto(server.address);
    await page.evaluate(() => Promise.all(['atrium-build-a', 'atrium-build-b', 'another'].map((name) => caches.open(name))));
    await person.go('/notes');
    await kept(page);
    const { names, paths } = await page.evaluate(async () => {
      const names = await caches.keys();
      const found = await Promise.all(names.map(async (name) => (await (await caches.open(name)).keys()).map((request) => new URL(request.url).pathname)));
      return { names, paths: found.flat() };
    });

    assert.equal(names.filter((name) => name.startsWith('atrium-build-')).length, 2);
    assert.ok(names.includes('another'));
    assert.ok(paths.some((path) => /MembersPage/.test(path)));
    assert.deepEqual(paths.filter((path) => path.startsWith('/api')), []);
    await person.close();
  });

  it('keeps a page only with the files it asks for', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/');
    await kept(page);

    const matches = await page.evaluate(async () => {
      const name = (await caches.keys()).find((one) => one.startsWith('atrium-build-'));
      const cache = await caches.open(name);
      const entry = /<script type="module"[^>]* src="([^"]+)"/.exec(await (await cache.match('/')).text())[1];
      return Boolean(await cache.match(entry));
    });

    assert.ok(matches);
    await person.close();
  });
});

describe('while the program is on its way', () => {
  /** The program waits until it is let through. */
  const hold = async (page) => {
    let release;
    const released = new Promise((resolve) => { release = resolve; });
    await page.route('**/assets/index-*.js', (route) => released.then(() => route.continue()));
    return release;
  };
  for (const [who, place, path] of [['somebody signed in', 'inside', '/'], ['a stranger', 'outside', '/sign-in']]) {
    it(`the page shows the outlines of what ${who} gets`, async () => {
      const person = await openPerson(browser, server, { token: place === 'inside' ? ada : undefined, worker: false });
      const { page } = person;
      const release = await hold(page);
      await page.goto(`${server.address}/#${path}`, { waitUntil: 'commit' });
      await page.locator(`#outline .${place}`).waitFor();
      assert.equal(await page.locator('#outline > div:visible').count(), 1);
      release();
      await person.settled();
      assert.equal(await page.locator('#outline').isVisible(), false);
      await person.close();
    });
  }

  for (const locale of LOCALES) {
    it(`and offers to try again in ${locale} when it never comes`, async () => {
      const person = await openPerson(browser, server, { locale, worker: false });
      const { page } = person;
      await page.route('**/assets/index-*.js', (route) => route.abort('connectionreset'));
      await page.goto(server.address);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await examineBoth(page, 'a console that did not load');
      await page.unroute('**/assets/index-*.js');
      await page.getByRole('button', { name: wordsOf(locale)('ui.retry'), exact: true }).click();
      await page.getByRole('heading', { name: wordsOf(locale)('signin.title') }).waitFor();
      await person.close();
    });
  }
});
