// Texts are drawn as they will be read while they are written: by mouse and by keyboard, and nothing but what was meant changes.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { examineBoth, still } from './axe.mjs';
import { wordsOf } from './words.mjs';
import { call, closeAll, found, join, openBrowser, openPerson, openServer, until } from './world.mjs';

const t = wordsOf('en');
let browser, server, ada, grace;
before(async () => {
  [browser, server] = await Promise.all([openBrowser(), openServer()]);
  ada = await found(server);
  grace = (await join(server, ada, 'grace', 'Grace Hopper', 'viewer')).token;
});
after(closeAll);

const TEXT = '# Berth 7\n\nThe **pilot** comes by [launch](https://example.org).\nA second line.\n\n- [ ] call the pilot\n- [x] order the tug\n- moor\n  - fore and aft\n\n> said twice\n\n| Berth | Depth |\n| --- | --- |\n| *7* | 12 m |\n\n```\nlet a = 1;\n```\n\n***\n\nThe end.';
const make = (kind, body, title = 'Watch list') => call(server, `/api/${kind}`, { token: ada, body: { title, body, visibility: 'team' } });
const read = async (kind, id) => (await call(server, `/api/${kind}/${id}`, { token: ada })).body;
const editor = (page, kind = 'notes') => page.getByLabel(t(`${kind}.body`), { exact: true });
const button = (page, name) => page.getByRole('button', { name, exact: true });
const lines = (page) => page.locator('.cm-line').allInnerTexts();
const option = (page, name) => page.getByRole('option', { name, exact: true });

/** Waits until the server has this text; earlier saves may still be on their way. */
async function expectSaved(kind, id, text) {
  await until(`the server has ${JSON.stringify(text)}`, async () => (await read(kind, id)) === text);
}

describe('a text that is written', () => {
  it('is drawn, a tick changes one character, and the source is one key away', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    for (const kind of ['notes', 'documents']) {
      const text = TEXT.replaceAll('\n', '\r\n');
      const { id } = await make(kind, text);
      await person.go(`/${kind}/${id}`);
      await page.locator('.cm-table td em', { hasText: '7' }).waitFor();
      assert.deepEqual((await lines(page)).slice(0, 4), ['Berth 7', '\n', 'The pilot comes by launch.', 'A second line.']);

      await page.getByLabel(t('writing.task_done'), { exact: true }).first().click();
      await expectSaved(kind, id, text.replace('[ ]', '[x]'));

      await editor(page, kind).focus();
      await page.keyboard.press('Control+Home');
      await page.locator('.cm-line', { hasText: '# Berth 7' }).waitFor();
      for (let line = 0; line < 6; line++) await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Control+Enter');
      await expectSaved(kind, id, text.replace('[ ]', '[x]').replace('[x] order', '[ ] order'));

      await page.keyboard.press('End');
      await page.keyboard.press('Control+/');
      await page.locator('.cm-line', { hasText: 'The **pilot** comes by [launch](https://example.org).' }).waitFor();
      await page.keyboard.press('Control+/');
      await page.locator('.cm-line', { hasText: '- [ ] order the tug' }).waitFor({ state: 'detached' });
      await page.keyboard.press('Home');
      await page.locator('.cm-line', { hasText: '- [ ] order the tug' }).waitFor();
      await page.keyboard.press('Control+/');
      await page.locator('.cm-line', { hasText: '| --- | --- |' }).waitFor();
      await page.reload();
      await page.locator('.cm-line', { hasText: '| --- | --- |' }).waitFor();
      await button(page, t('writing.source')).click();
      await page.locator('.cm-table').waitFor();
    }
    await person.close();
  });

  it('takes its marks from the menu, the keys and the toolbar, and its links from the notes there are', async () => {
    const { id: other } = await make('notes', 'x', 'Tide [north]');
    const { id } = await make('notes', '');
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    const { keyboard } = page;
    await person.go(`/notes/${id}`);
    await editor(page).focus();

    await keyboard.type('/che');
    await option(page, t('writing.mark_task')).waitFor();
    await keyboard.press('Enter');
    await keyboard.type('call the pilot');
    await keyboard.press('Enter');
    await keyboard.type('/');
    await option(page, t('writing.mark_bold')).waitFor();
    await keyboard.press('ArrowDown');
    await keyboard.press('ArrowDown');
    await page.getByRole('option', { selected: true, name: t('writing.mark_heading') }).waitFor();
    await keyboard.press('Tab');
    await keyboard.type('Tides');
    await keyboard.press('Enter');
    await keyboard.type('/etc/hosts and /');
    await keyboard.press('Enter');
    await keyboard.type('See [[tid');
    await option(page, 'Tide [north]').waitFor();
    await keyboard.press('Enter');
    await keyboard.press('Enter');
    await keyboard.press('Control+b');
    await keyboard.type('now');
    await keyboard.press('End');
    await keyboard.press('Enter');
    await button(page, t('writing.mark_table')).click();
    const whole = ['- [ ] call the pilot', '# Tides', '/etc/hosts and /', `See [Tide \\[north\\]](#/notes/${other})`, '**now**', '| a  |   |', '| --- | --- |', '|   |   |'];
    await keyboard.type('a');

    await expectSaved('notes', id, whole.join('\n'));
    await keyboard.press('Control+Home');
    await keyboard.press('Escape');
    await page.locator('.cm-link', { hasText: 'Tide' }).click({ modifiers: ['Control'] });
    await page.waitForURL((url) => url.hash === `#/notes/${other}`);
    await person.close();
  });

  it('is read first, and the editor takes its place without a shift', async () => {
    const { id } = await make('notes', TEXT);
    const person = await openPerson(browser, server, { token: ada, worker: false });
    const { page } = person;
    let arrive;
    const held = new Promise((resolve) => { arrive = resolve; });
    await page.route('**/assets/MarkdownEditor-*.js', async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(`${server.address}/#/notes/${id}`);
    await page.locator('.prose', { hasText: 'The end.' }).waitFor();
    await page.evaluate(() => document.fonts.ready);
    const places = (root) => root.evaluate((top) => {
      const at = (found) => found && Math.round(found.getBoundingClientRect().top);
      const inside = top.shadowRoot ?? top;
      const blocks = [...inside.querySelectorAll('h2, p, li, td, .cm-line')];
      return ['Berth 7', 'The pilot', 'call the', 'moor', 'said twice', '12 m', 'The end.'].map((words) => at(blocks.find((block) => block.textContent.replace(/^•/, '').startsWith(words))));
    });
    const before = await places(page.locator('.prose'));
    assert.ok(before.every(Number.isFinite), `${before}`);
    arrive();
    await editor(page).waitFor();
    // A browser that is kept busy may draw the end of the text a moment later.
    await page.locator('.cm-table').waitFor();
    await page.locator('.cm-rule').waitFor();

    assert.deepEqual(await places(page.locator('[data-editor]')), before);
    await person.close();

    const reader = await openPerson(browser, server, { token: grace });
    await reader.go(`/notes/${id}`);
    await reader.page.locator('.prose td em', { hasText: '7' }).waitFor();
    assert.equal(await reader.page.locator('[data-editor]').count(), 0);
    await reader.close();
  });

  it('is accessible, drawn with its menu open at 360 px, and as source at 1280 px', async () => {
    const { id } = await make('notes', TEXT);
    const person = await openPerson(browser, server, { token: ada, width: 360 });
    const { page } = person;
    await person.go(`/notes/${id}`);
    await editor(page).focus();
    await page.keyboard.press('Control+End');
    await page.keyboard.press('Enter');
    await page.keyboard.type('/');
    await page.locator('.cm-table').waitFor();
    await option(page, t('writing.mark_bold')).waitFor();
    // It is placed with the next frame.
    await still(page);
    const [top, bottom] = await page.locator('.cm-menu').evaluate((menu) => {
      const box = menu.getBoundingClientRect();
      return [box.top, innerHeight - box.bottom];
    });
    assert.ok(top >= 0 && bottom >= 0, `the menu has ${top} px above it and ${bottom} below`);
    await examineBoth(page, 'menu');
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.keyboard.press('Control+/');
    await page.locator('.cm-line', { hasText: '| --- | --- |' }).waitFor();
    await examineBoth(page, 'source');
    await person.close();
  });
});
