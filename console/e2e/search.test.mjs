// Search: what a person half remembers, found while they type, with the keyboard alone, and nothing of what others keep to themselves.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { examineBoth } from './axe.mjs';
import { openReader } from './knowledge-screens.mjs';
import { closeModels } from './model.mjs';
import { LOCALES, wordsOf } from './words.mjs';
import { ended } from './workflow-screens.mjs';
import { call, closeAll, found, join, openBrowser, openPerson, openServer, PASSWORD, put, until } from './world.mjs';

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
  await read('sluice');
});
after(async () => {
  await closeAll();
  await closeModels();
});

/** A file's text has been read: its word is found. */
const read = (word) => until('the text is found', async () => (await call(server, `/api/search?q=${word}`, { token: ada })).items.length > 0);

const rows = (page) => page.locator('[data-row]');
const person = (options) => openPerson(browser, server, { token: ada, ...options });

/** A PDF of one page with these lines. */
function pdfOf(lines) {
  const drawn = `BT /F1 12 Tf 16 TL 40 160 Td ${lines.map((line) => `(${line}) Tj T*`).join(' ')} ET`;
  const font = '<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>';
  const objects = ['<</Type/Catalog/Pages 2 0 R>>', '<</Type/Pages/Kids[3 0 R]/Count 1>>', `<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 200]/Contents 4 0 R/Resources<</Font<</F1 ${font}>>>>>>`, `<</Length ${drawn.length}>>\nstream\n${drawn}\nendstream`];
  const places = [];
  let text = '%PDF-1.4\n';
  for (const [at, object] of objects.entries()) {
    places.push(text.length);
    text += `${at + 1} 0 obj\n${object}\nendobj\n`;
  }
  const table = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('');
  return `${text}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${text.length}\n%%EOF\n`;
}

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

  it('finds a sentence of a PDF by two half-remembered words, opens it at the place, and shows who it is about', async () => {
    const model = await openReader();
    await server.say(`restart SERVICE_EMBED_WORKER=1 SERVICE_LOCAL_MODEL_URL=${model.url} SERVICE_LOCAL_MODEL=reader`);
    await put(server, ada, 'ports/circular.pdf', pdfOf(['Northwind Freight, circular of the week.', 'Captain Ingvar Bergsson leaves the ferry at the northern quay of Rotterdam.']), 'application/pdf', '?visibility=team');
    await read('northern');
    await ended(server, ada, (await call(server, '/api/kg/extract', { token: ada, method: 'POST' })).id);

    const { page, go, close } = await person();
    await go('/search');
    await page.getByRole('searchbox').focus();
    await page.keyboard.type('quay norther');
    await rows(page).filter({ hasText: 'circular.pdf' }).locator('mark').nth(1).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/files\//);
    const place = page.locator('pre mark');
    await place.waitFor();
    assert.equal(await place.innerText(), 'northern quay');
    for (const name of ['Northwind Freight', 'Rotterdam']) await page.getByRole('link', { name, exact: true }).waitFor();
    await page.getByRole('link', { name: 'Ingvar Bergsson', exact: true }).press('Enter');
    await page.getByRole('heading', { name: 'Ingvar Bergsson', level: 1 }).waitFor();
    await page.getByTestId('document').filter({ hasText: 'circular.pdf' }).waitFor();
    await close();
  });

  it('looks in the whole company for who may read it, and offers that to them alone', async () => {
    const { id: team_id } = await call(server, '/api/org/teams', { token: ada, body: { name: 'Finance' } });
    const added = await call(server, '/api/org/members', { token: ada, body: { username: 'femke', display_name: 'Femke', team_id } });
    const { token } = await call(server, '/api/password', { token: added.token, body: { new_password: PASSWORD } });
    await call(server, '/api/notes', { token, body: { title: 'Demurrage ledger', body: 'Paid until May.', visibility: 'team' } });
    const { page, go, close } = await person();
    const none = (of) => of.getByText(t('search.none_title', { q: 'demurrage' })).waitFor();
    await go('/search?q=demurrage');
    await none(page);
    await page.getByRole('button', { name: t('search.scope_org') }).press('Enter');
    await page.waitForURL(/scope=org/);
    await rows(page).filter({ hasText: 'Demurrage ledger' }).getByText('Finance').waitFor();
    await page.getByRole('button', { name: t('search.scope_team') }).press('Enter');
    await none(page);
    await close();
    const member = await person({ token: jeroen.token });
    await member.go('/search?q=demurrage');
    await none(member.page);
    assert.equal(await member.page.getByRole('group', { name: t('search.scopes') }).count(), 0);
    await member.close();
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

  it('looks in one folder only, from the folder itself', async () => {
    const { page, go, close } = await person();
    await go('/files?at=ports/');
    await page.getByRole('link', { name: t('files.search_here') }).click();
    await page.getByRole('button', { name: t('search.leave_folder', { folder: 'ports/' }) }).waitFor();
    await page.getByRole('searchbox').fill('pilot');
    await page.getByText(t('search.none_narrowed')).waitFor();
    await page.getByRole('searchbox').fill('sluice');
    await rows(page).filter({ hasText: 'tide-table.txt' }).waitFor();
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
