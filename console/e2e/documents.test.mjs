// Documents: written, saved as versions, met by somebody else's, looked back at, deleted.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { call, closeAll, found, join, openBrowser, openPerson, openServer, put, until } from './world.mjs';
import { LOCALES, wordsOf } from './words.mjs';

const t = wordsOf('en');
let browser, server, ada, grace;
before(async () => {
  [browser, server] = await Promise.all([openBrowser(), openServer()]);
  ada = await found(server);
  grace = (await join(server, ada, 'grace', 'Grace Hopper')).token;
});
after(closeAll);

const button = (page, name) => page.getByRole('button', { name, exact: true });
const saved = (page) => page.locator('[data-testid=save-state][data-state=saved]').waitFor();
const editor = (page, words = t) => page.getByLabel(words('documents.body'), { exact: true });
const make = (body, visibility = 'team') => call(server, '/api/documents', { token: ada, body: { title: 'Watch list', body, visibility } });
const read = (id) => call(server, `/api/documents/${id}`, { token: ada });

async function append(page, text) {
  await editor(page).click();
  await page.keyboard.press('Control+End');
  // At once: keys that come slowly are stored one by one, and the question of a conflict would come between them.
  await page.keyboard.insertText(text);
}

describe('the life of a document', () => {
  for (const locale of LOCALES) {
    it(`works in ${locale}`, async () => {
      const words = wordsOf(locale);
      const house = await openServer();
      const owner = await found(house);
      await call(house, '/api/profile', { token: owner, body: { locale } });
      const person = await openPerson(browser, house, { locale, token: owner });
      const { page } = person;

      await person.go('/documents');
      await page.getByText(words('documents.none_title')).waitFor();
      await page.getByRole('link', { name: words('nav.new_document') }).first().click();
      await page.getByLabel(words('writing.title_field')).fill('Fog protocol');
      await editor(page, words).click();
      await page.keyboard.type('# First\n\nTug first.');
      await saved(page);
      await button(page, words('documents.preview')).click();
      await page.locator('.prose h2', { hasText: 'First' }).waitFor();
      await page.getByRole('link', { name: words('documents.history') }).click();
      await page.getByTestId('version').nth(1).waitFor();
      await page.getByRole('link', { name: words('files.write'), exact: true }).click();
      await button(page, words('documents.delete')).click();
      await page.getByText(words('documents.none_title')).waitFor();

      assert.deepEqual((await call(house, '/api/documents', { token: owner })).items, []);
      await person.close();
      await house.close();
    });
  }
});

describe('a document', () => {
  it('keeps both texts when two people save', async () => {
    const { id } = await make('# Monday\n\nquiet night');
    const one = await openPerson(browser, server, { token: grace, deaf: true });
    await one.go(`/documents/${id}`);
    await editor(one.page).waitFor();
    await call(server, `/api/documents/${id}`, { token: ada, method: 'PUT', body: { body: '# Monday\n\nquiet night\nAda saw a fog bank' } });

    await append(one.page, '\nGrace heard the horn');
    await one.page.getByRole('heading', { name: t('writing.conflict_title') }).waitFor();
    await button(one.page, t('writing.conflict_save')).click();
    await one.page.getByRole('heading', { name: t('writing.conflict_title') }).waitFor({ state: 'detached' });
    await saved(one.page);

    const body = await until('the text of both is stored', async () => { const text = (await read(id)).body; return text.includes('Grace') && text; });
    for (const line of ['quiet night', 'Ada saw a fog bank', 'Grace heard the horn']) assert.ok(body.includes(line), `${line} is lost`);
    await one.close();
  });

  it('goes on when it was only shared meanwhile', async () => {
    const { id } = await make('start', 'private');
    const person = await openPerson(browser, server, { token: ada });
    await person.go(`/documents/${id}`);
    await editor(person.page).waitFor();
    const { items } = await call(server, '/api/members', { token: ada });
    await call(server, `/api/repo-obj/${id}/share`, { token: ada, body: { user_id: items.find((one) => one.username === 'grace').id } });

    await append(person.page, ' and on');
    await person.page.locator('[data-testid=save-state][data-state=editing]').waitFor();
    await saved(person.page);

    assert.equal((await read(id)).body, 'start and on');
    await person.close();
  });

  it('is only read by whom it was shown', async () => {
    const { id } = await make('for your eyes', 'private');
    const { items } = await call(server, '/api/members', { token: ada });
    await call(server, `/api/repo-obj/${id}/share`, { token: ada, body: { user_id: items.find((one) => one.username === 'grace').id } });
    const reader = await openPerson(browser, server, { token: grace });
    await reader.go(`/documents/${id}`);
    await reader.page.getByText('for your eyes').waitFor();

    assert.equal(await editor(reader.page).count(), 0);
    assert.equal(await reader.page.getByRole('link', { name: t('files.share'), exact: true }).count(), 0);
    await reader.close();
  });

  it('that was uploaded as Markdown is written like any other', async () => {
    const { id } = await put(server, ada, 'uploads/plan.md', '# Plan', 'text/markdown');
    const person = await openPerson(browser, server, { token: ada });
    await person.go('/documents');
    await person.page.getByRole('link', { name: 'plan.md' }).click();
    await append(person.page, '\n\nmore');
    await saved(person.page);

    assert.match((await read(id)).body, /# Plan\n\n+more/);
    await person.close();
  });
});
