// Files and folders get other names and other places, and what is in the way is told.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { examineBoth } from './axe.mjs';
import { call, closeAll, found, join, openBrowser, openPerson, openServer, put } from './world.mjs';
import { wordsOf } from './words.mjs';

const t = wordsOf('en');
let browser, server, ada;
before(async () => {
  [browser, server] = await Promise.all([openBrowser(), openServer()]);
  ada = await found(server);
});
after(closeAll);

const team = '?visibility=team';
const row = (page, name) => page.locator('[data-row]').filter({ hasText: new RegExp(`^${name}`) });
const keys = async (prefix) => (await call(server, `/api/repo?prefix=${encodeURIComponent(prefix)}`, { token: ada })).items.map((one) => one.key);

async function openMove(page, name, words = t) {
  await page.getByRole('button', { name: words('files.actions_of', { name }), exact: true }).click();
  await page.getByRole('menuitem', { name: words('files.move') }).click();
  return page.getByRole('dialog');
}

async function fill(dialog, { name, folder }, words = t) {
  if (name !== undefined) await dialog.getByLabel(words('files.name'), { exact: true }).fill(name);
  if (folder !== undefined) await dialog.getByLabel(words('files.move_folder'), { exact: true }).fill(folder);
  await dialog.getByRole('button', { name: words('ui.save'), exact: true }).click();
}

describe('a file', () => {
  for (const locale of ['en', 'is']) {
    it(`is renamed and moved in ${locale}`, async () => {
      const words = wordsOf(locale);
      const { id } = await put(server, ada, `${locale}/tides.txt`, 'high', 'text/plain', team);
      await call(server, '/api/profile', { token: ada, body: { locale } });
      const person = await openPerson(browser, server, { locale, token: ada });
      const { page } = person;
      await person.go(`/files?at=${locale}%2F`);

      const dialog = await openMove(page, 'tides.txt', words);
      if (locale === 'en') await examineBoth(page, 'moving a file');
      await fill(dialog, { name: 'ebb.txt' }, words);
      await row(page, 'ebb.txt').waitFor();
      await fill(await openMove(page, 'ebb.txt', words), { folder: `${locale}/archive` }, words);
      await page.getByTestId('toast').getByText(words('files.moved', { key: `${locale}/archive/ebb.txt` })).waitFor();
      await row(page, 'archive').waitFor();

      assert.equal((await call(server, `/api/repo-obj/${id}`, { token: ada })).key, `${locale}/archive/ebb.txt`);
      await person.close();
    });
  }

  it('stays where it is when the name is taken, and the dialog says so', async () => {
    for (const name of ['one.txt', 'two.txt']) await put(server, ada, `taken/${name}`, 'x', 'text/plain', team);
    await call(server, '/api/profile', { token: ada, body: { locale: 'en' } });
    const person = await openPerson(browser, server, { token: ada });
    await person.go('/files?at=taken%2F');

    const dialog = await openMove(person.page, 'one.txt');
    await fill(dialog, { name: 'two.txt' });
    await dialog.getByText(t('errors.repository_key_taken')).waitFor();
    await fill(dialog, { name: '' });
    await dialog.getByText(t('ui.needed')).waitFor();
    await fill(dialog, { name: 'three.txt' });
    await row(person.page, 'three.txt').waitFor();

    assert.deepEqual(await keys('taken/'), ['taken/three.txt', 'taken/two.txt']);
    await person.close();
  });
});

describe('a file\'s own page', () => {
  it('moves it, by the keyboard alone, and stays', async () => {
    const { id } = await put(server, ada, 'drafts/plan.txt', 'x', 'text/plain', team);
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go(`/files/${id}`);

    await page.getByRole('button', { name: t('files.move') }).focus();
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.activeElement?.name === 'name');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('decided.txt');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'decided.txt' }).waitFor();

    assert.deepEqual(await keys('drafts/'), ['drafts/decided.txt']);
    await person.close();
  });
});

describe('a folder', () => {
  it('moves with everything in it, by the keyboard alone', async () => {
    for (const name of ['1.txt', 'b/2.txt']) await put(server, ada, `ledgers/${name}`, 'x', 'text/plain', team);
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/files');

    await page.getByRole('button', { name: t('files.actions_of', { name: 'ledgers' }), exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: t('files.move') }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.activeElement?.name === 'name');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('books');
    await page.keyboard.press('Tab');
    await page.keyboard.type('2025/');
    await page.keyboard.press('Enter');
    await page.getByTestId('toast').getByText(t('files.moved', { key: '2025/books' })).waitFor();
    await row(page, '2025').waitFor();

    assert.deepEqual([await keys('ledgers/'), await keys('2025/')], [[], ['2025/books/1.txt', '2025/books/b/2.txt']]);
    await person.close();
  });

  it('is taken along by readers, and not moved', async () => {
    await put(server, ada, 'shown/1.txt', 'x', 'text/plain', team);
    const { token } = await join(server, ada, 'vera', 'Vera Lund', 'viewer');
    const person = await openPerson(browser, server, { token });
    await person.go('/files');
    await row(person.page, 'shown').waitFor();

    await person.page.getByRole('button', { name: t('files.actions_of', { name: 'shown' }), exact: true }).click();
    const zip = person.page.getByRole('menuitem', { name: t('files.download_zip') });
    await zip.waitFor();
    assert.equal(await person.page.getByRole('menuitem', { name: t('files.move') }).count(), 0);
    const [download] = await Promise.all([person.page.waitForEvent('download'), zip.click()]);
    assert.equal(download.suggestedFilename(), 'shown.zip');
    assert.equal(readFileSync(await download.path()).subarray(0, 2).toString(), 'PK');
    await person.close();
  });
});
