// Search: what a person half remembers, found while they type, with the keyboard alone, and nothing of what others keep to themselves.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { examineBoth } from './axe.mjs';
import { LOCALES, wordsOf } from './words.mjs';
import { call, closeAll, found, join, openBrowser, openPerson, openServer, put, until } from './world.mjs';

const t = wordsOf('en');
let browser, server, ada, jeroen;
before(async () => {
  [browser, server] = await Promise.all([openBrowser(), openServer()]);
  ada = await found(server);
  jeroen = await join(server, ada, 'jeroen', 'Jeroen de Wit');
  const note = (title, body, token = ada, visibility = 'team') => call(server, '/api/notes', { token, body: { title, body, visibility } });
  await note('Rotterdam handover', 'The pilot is booked. Customs wants the manifest of the Hafrún by noon.');
  await note('Fog protocol', 'Tug first, then the pilot, then breakfast.');
  await note('Rates', 'Surcharge for kumquats: fourteen per cent.', jeroen.token, 'private');
  await call(server, '/api/documents', { token: ada, body: { title: 'Berth handbook', body: '# Mooring\n\nHow lines are made fast.', visibility: 'team' } });
  await put(server, ada, 'ports/tide-table.txt', 'High water at Bilbao half past nine. The sluice keeper sleeps until ten.');
  // A file's text is read some time after the upload.
  await until('the text is found', async () => (await call(server, '/api/search?q=sluice', { token: ada })).items.length > 0);
});
after(closeAll);

const rows = (page) => page.locator('[data-row]');
const person = (options) => openPerson(browser, server, { token: ada, ...options });

describe('a search', () => {
  it('finds a file by two half-remembered words of its text, with the keyboard alone', async () => {
    const { page, go, close } = await person();
    await go('/');
    await page.keyboard.press('g');
    await page.keyboard.press('/');
    const isField = () => document.activeElement?.matches('input[type=search]');
    await page.waitForFunction(isField);
    await page.keyboard.type('keeper sluic');
    const row = rows(page).filter({ hasText: 'tide-table.txt' });
    // The first word alone may have been answered before the second was typed.
    await row.locator('mark').nth(1).waitFor();
    assert.deepEqual(await row.locator('mark').allInnerTexts(), ['sluice', 'keeper']);
    await page.keyboard.press('ArrowDown');
    await page.waitForFunction(() => document.activeElement?.matches('[data-row]'));
    await page.keyboard.press('ArrowUp');
    await page.waitForFunction(isField);
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/files\//);
    const place = page.locator('pre mark');
    await place.waitFor();
    assert.equal(await place.innerText(), 'sluice keeper');
    await page.goBack();
    await page.waitForURL(/#\/search\?q=/);
    assert.equal(await page.getByRole('searchbox').inputValue(), 'keeper sluic');
    await close();
  });

  it('narrows to a kind, and says what to do when nothing is left', async () => {
    const { page, go, close } = await person();
    await go('/search?q=pilot');
    await rows(page).nth(1).waitFor();
    await page.getByRole('button', { name: t('search.kind_object') }).click();
    await page.getByText(t('search.none_narrowed')).waitFor();
    await page.getByRole('button', { name: t('search.everywhere') }).click();
    await rows(page).nth(1).waitFor();
    await close();
  });

  it('says that it was cut short before anything was found, and can be asked again', async () => {
    const hurried = await openServer({ SERVICE_SEARCH_MILLISECONDS: '1' });
    const owner = await openPerson(browser, hurried, { token: await found(hurried) });
    await owner.go('/search?q=anything');
    await owner.page.getByText(t('search.cut_title')).waitFor();
    const again = owner.page.waitForResponse((answer) => answer.url().includes('/api/search'));
    await owner.page.getByRole('button', { name: t('search.again') }).click();
    assert.equal((await (await again).json()).cut, true);
    await owner.close();
    await hurried.close();
  });

  it('comes close where a title is misspelt, and says so', async () => {
    const { page, go, close } = await person();
    await go('/search?q=hanbdook');
    await rows(page).filter({ hasText: 'Berth handbook' }).waitFor();
    await page.getByText(t('search.relaxed')).waitFor();
    await close();
  });

  it('shows a colleague’s private note to its owner only, on the page and in the palette', async () => {
    const { page, go, close } = await person();
    await go('/search?q=kumquats');
    await page.getByText(t('search.none_title', { q: 'kumquats' })).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('kumquats');
    await page.getByRole('option', { name: t('app.palette_search', { typed: 'kumquats' }) }).waitFor();
    assert.equal(await page.getByRole('option').count(), 1);
    await close();
    const owner = await person({ token: jeroen.token });
    await owner.go('/search?q=kumquats');
    await rows(owner.page).filter({ hasText: 'Rates' }).waitFor();
    await owner.close();
  });

  it('shows what the last word finds, however quickly one follows another', async () => {
    const { page, go, close } = await person();
    await go('/search?q=pilot');
    await rows(page).first().waitFor();
    for (const [word, title] of [['breakfast', 'Fog protocol'], ['mooring', 'Berth handbook'], ['manifest', 'Rotterdam handover'], ['bilbao', 'tide-table.txt'], ['tug', 'Fog protocol']]) {
      await page.getByRole('searchbox').fill(word.slice(0, -1));
      await page.getByRole('searchbox').fill('');
      await page.getByRole('searchbox').fill(word);
      await rows(page).filter({ hasText: title }).first().waitFor();
    }
    await close();
  });
});

describe('readable by everybody', () => {
  for (const locale of LOCALES) {
    it(`in ${locale}, on a phone too`, async () => {
      const words = wordsOf(locale);
      await call(server, '/api/profile', { token: ada, body: { locale } });
      const { page, go, close } = await person({ locale, width: 360 });
      await go('/search');
      await page.getByText(words('search.start_title')).waitFor();
      await examineBoth(page, `search, empty, ${locale}`);
      await page.getByRole('searchbox').fill('pilot');
      await rows(page).nth(1).waitFor();
      await examineBoth(page, `search, ${locale}`);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth), 0);
      await close();
    });
  }
});
