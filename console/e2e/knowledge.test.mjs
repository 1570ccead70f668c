// The knowledge graph: a person finds an entity, reads what documents say, makes two one and takes that back, with the keyboard alone.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { examineBoth, FULL } from './axe.mjs';
import { find, knowledgeScreensOf, learn, openReader } from './knowledge-screens.mjs';
import { closeModels } from './model.mjs';
import { LOCALES, wordsOf } from './words.mjs';
import { call, closeAll, found, join, openBrowser, openPerson, openServer, put, takeFromPalette } from './world.mjs';

const t = wordsOf('en');
let browser, server, ada, viewer, knowledge, model;
before(async () => {
  [browser, server] = await Promise.all([openBrowser(), openServer()]);
  ada = await found(server);
  viewer = await join(server, ada, 'vera', 'Vera', 'viewer');
  knowledge = await learn(server, ada);
  model = await openReader();
  await server.say(`restart SERVICE_EMBED_WORKER=1 SERVICE_LOCAL_MODEL_URL=${model.url} SERVICE_LOCAL_MODEL=reader`);
});
after(async () => {
  await closeAll();
  await closeModels();
});

const person = (options) => openPerson(browser, server, { token: ada, ...options });
const rows = (page) => page.getByTestId('entity');
const focused = (page) => page.evaluate(() => document.activeElement?.textContent);
/** Tab until what has the focus says this. */
async function tabTo(page, words) {
  for (let times = 0; times < 60; times++) {
    await page.keyboard.press('Tab');
    const name = await page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent);
    if (name?.includes(words)) return;
  }
  throw new Error(`Tab never came to ${words}`);
}

describe('the knowledge graph', () => {
  it('is found from the palette, the search page and a file; its own / wins over the frame’s', async () => {
    const { page, go, close } = await person();
    await go('/');
    await takeFromPalette(page, t('nav.knowledge'));
    await rows(page).first().waitFor();
    // The frame offers its keys anew once it has loaded Settings, whose keys it then has.
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText(t('nav.members'), { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    await page.waitForFunction(() => document.activeElement?.matches('main input[type=search]'));
    await go('/search');
    await page.getByRole('navigation', { name: t('nav.search') }).getByRole('link', { name: t('nav.knowledge') }).click();
    await rows(page).first().waitFor();
    const { id } = await put(server, ada, 'harbour/handover-copy.md', 'Nothing.', 'text/markdown', '?visibility=team');
    await go(`/files/${id}`);
    await page.getByRole('main').getByRole('link', { name: t('nav.knowledge') }).click();
    await rows(page).first().waitFor();
    await close();
  });

  it('finds an entity by name, shows its documents, and opens one at the quote, with the keyboard alone', async () => {
    const { page, go, close } = await person();
    await go('/knowledge');
    await rows(page).first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('bergs');
    await page.waitForURL(/q=bergs/);
    await page.waitForFunction(() => document.querySelectorAll('[data-testid=entity]').length === 1);
    await page.keyboard.press('ArrowDown');
    await page.waitForFunction(() => document.activeElement?.matches('[data-testid=entity]'));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Ingvar Bergsson', level: 1 }).waitFor();
    assert.equal(await page.getByTestId('document').count(), 2);
    assert.deepEqual((await page.getByTestId('neighbour').allInnerTexts()).map((text) => text.split('\n')[0]).sort(), ['Akureyri', 'Hafrún', 'Northwind Freight']);
    await tabTo(page, 'lives in Akureyri');
    await page.keyboard.press('Enter');
    const mark = page.locator('main mark');
    await mark.waitFor();
    assert.equal(await mark.innerText(), 'In winter Ingvar Bergsson lives in Akureyri.');
    // The file shows who and what it mentions.
    await page.getByRole('link', { name: 'Akureyri', exact: true }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Ingvar Bergsson', level: 1 }).waitFor();
    await close();
  });

  it('walks the neighbourhood with arrows, and shows the same as a list', async () => {
    const { page, go, close } = await person();
    await go(`/knowledge/${knowledge.captain}`);
    const nodes = page.getByTestId('neighbour');
    await nodes.first().waitFor();
    const drawn = (await nodes.allInnerTexts()).map((text) => text.split('\n')[0]).sort();
    await nodes.first().focus();
    await page.keyboard.press('ArrowDown');
    const second = await focused(page);
    assert.notEqual(second, await nodes.first().textContent());
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => !url.hash.includes(knowledge.captain));
    await page.goBack();
    await page.getByRole('button', { name: t('knowledge.view_list') }).focus();
    await page.keyboard.press('Enter');
    await page.getByTestId('relation').first().waitFor();
    const listed = await page.getByTestId('relation').locator('p a').allInnerTexts();
    assert.deepEqual([...new Set(listed)].sort(), drawn);
    await close();
  });

  it('makes two entities one after a preview and takes that back, with the keyboard alone', async () => {
    const { page, go, close } = await person();
    const bilbao = await find(server, ada, 'Bilbao');
    await go(`/knowledge/${bilbao.id}`);
    await page.getByRole('heading', { name: 'Bilbao', level: 1 }).waitFor();
    await tabTo(page, t('knowledge.merge'));
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('searchbox').waitFor();
    await page.keyboard.type('akur');
    await page.waitForFunction(() => document.querySelectorAll('[role=dialog] li').length === 1);
    await tabTo(page, 'Akureyri');
    await page.keyboard.press('Enter');
    const preview = page.getByTestId('preview');
    await preview.waitFor();
    assert.match(await preview.innerText(), /Bilbao · Akureyri/);
    await tabTo(page, t('knowledge.merge_do'));
    await page.keyboard.press('Enter');
    await page.getByTestId('merged').filter({ hasText: 'Akureyri' }).waitFor();
    assert.equal(await page.getByTestId('document').count(), 1);
    assert.equal((await find(server, ada, 'Akureyri')).id, bilbao.id);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await tabTo(page, t('knowledge.undo_name', { name: 'Akureyri' }));
    await page.keyboard.press('Enter');
    await page.getByTestId('merged').waitFor({ state: 'detached' });
    assert.deepEqual((await call(server, `/api/kg/entities/${bilbao.id}`, { token: ada })).merged, []);
    assert.notEqual((await find(server, ada, 'Akureyri')).id, bilbao.id);
    await close();
  });

  it('takes a merge back from the news about it', async () => {
    const { page, go, close } = await person();
    await go(`/knowledge/${(await find(server, ada, 'Bilbao')).id}`);
    await page.getByRole('button', { name: t('knowledge.merge') }).click();
    await page.getByRole('dialog').getByText('Akureyri').click();
    await page.getByRole('button', { name: t('knowledge.merge_do') }).click();
    await page.getByTestId('merged').filter({ hasText: 'Akureyri' }).waitFor();
    await page.getByTestId('toast').getByRole('button', { name: t('ui.undo') }).click();
    await page.getByTestId('merged').waitFor({ state: 'detached' });
    await close();
  });

  it('tells which documents were not read and why, and reads them', async () => {
    await put(server, ada, 'harbour/spring.txt', 'In spring Ingvar Bergsson paints the Hafrún.', 'text/plain', '?visibility=team');
    const { page, go, close } = await person();
    await go('/knowledge');
    await page.getByTestId('unread').filter({ hasText: 'spring.txt' }).waitFor();
    await page.getByRole('button', { name: t('knowledge.extract') }).click();
    await page.locator('[data-testid=extraction][data-state=succeeded]').waitFor();
    await page.getByText(t('knowledge.unread_none')).waitFor();
    const captain = rows(page).filter({ hasText: 'Ingvar Bergsson' });
    await captain.getByText(t('knowledge.mentions', { n: 4 })).waitFor();
    await page.getByRole('link', { name: t('knowledge.its_run') }).click();
    await page.getByTestId('run-state').waitFor();
    await close();
  });

  it('lets a viewer look and change nothing', async () => {
    const { page, go, close } = await person({ token: viewer.token });
    await go('/knowledge');
    await rows(page).first().waitFor();
    assert.equal(await page.getByRole('button', { name: t('knowledge.extract') }).count(), 0);
    await go(`/knowledge/${knowledge.ship}`);
    await page.getByTestId('merged').first().waitFor();
    assert.equal(await page.getByTestId('merged').getByRole('button').count(), 0);
    assert.equal(await page.getByRole('button', { name: t('knowledge.merge') }).count(), 0);
    await close();
  });
});

describe('readable by everybody', () => {
  for (const locale of LOCALES) {
    it(`in ${locale}, on a phone too`, async () => {
      const words = wordsOf(locale);
      await call(server, '/api/profile', { token: ada, body: { locale } });
      const { page, go, close } = await person({ locale, width: 360 });
      const screens = knowledgeScreensOf({ knowledge, people: Array(5).fill(viewer), femke: viewer.token }, words);
      for (const screen of screens.filter(({ token }) => !token).filter(({ name }) => name !== 'knowledge')) {
        await page.goto('about:blank');
        await go(screen.path);
        await screen.act(page);
        if (FULL || locale === 'en') await examineBoth(page, `${screen.name}, ${locale}`);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth), 0, screen.name);
      }
      await close();
    });
  }
});
