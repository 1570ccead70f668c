// A wrong click costs nothing: deletions taken back, earlier texts brought back, shares seen and withdrawn.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { call, closeAll, found, join, openBrowser, openPerson, openServer, put, until } from './world.mjs';
import { LOCALES, wordsOf } from './words.mjs';

const t = wordsOf('en');
let browser, server, ada, grace;
before(async () => {
  [browser, server] = await Promise.all([openBrowser(), openServer()]);
  ada = await found(server);
  grace = await join(server, ada, 'grace', 'Grace Hopper');
});
after(closeAll);

const button = (page, name) => page.getByRole('button', { name, exact: true });
const news = (page, text) => page.getByTestId('toast').getByText(text).waitFor();
const row = (page, title) => page.locator('[data-row]', { hasText: title });
const makeNote = (title, body = 'Tug first.', visibility = 'team') => call(server, '/api/notes', { token: ada, body: { title, body, visibility } });
const read = (path) => call(server, path, { token: ada });

async function speaking(locale) {
  await call(server, '/api/profile', { token: ada, body: { locale } });
  return openPerson(browser, server, { locale, token: ada });
}

async function deleteNote(page, words) {
  await button(page, words('ui.more_actions')).click();
  await page.getByRole('menuitem', { name: words('notes.delete') }).click();
}

describe('a deletion', () => {
  for (const locale of LOCALES) {
    it(`is taken back at once, or later from the trash, in ${locale}`, async () => {
      const words = wordsOf(locale);
      const title = `Fog protocol ${locale}`;
      const { id } = await makeNote(title);
      const person = await speaking(locale);
      const { page } = person;
      await person.go(`/notes/${id}`);

      await deleteNote(page, words);
      await row(page, title).waitFor({ state: 'detached' });
      await news(page, words('trash.moved', { name: title }));
      assert.equal((await read('/api/trash')).items[0].id, id, 'the note is not in the trash while it can be undone');
      await button(page, words('ui.undo')).click();
      await news(page, words('trash.restored', { name: title }));
      await row(page, title).click();
      await deleteNote(page, words);
      await page.goto('about:blank');

      await person.go('/trash');
      await page.getByTestId('trashed').getByText(title).waitFor();
      await button(page, words('trash.restore_name', { name: title })).click();
      await page.getByText(words('trash.none_title')).waitFor();
      assert.equal((await read(`/api/notes/${id}`)).body, 'Tug first.');
      await person.close();
    });
  }

  it('leaves at once, so that a closing tab changes nothing', async () => {
    const { id } = await makeNote('Gone with the tab');
    const person = await speaking('en');
    await person.go(`/notes/${id}`);
    const answered = person.page.waitForResponse((answer) => answer.request().method() === 'DELETE');
    await deleteNote(person.page, t);
    await answered;
    await person.page.goto('about:blank');

    assert.equal((await read('/api/trash')).items[0].id, id);
    await call(server, `/api/trash/${id}`, { token: ada, method: 'DELETE' });
    await person.close();
  });

  it('of a file comes back under another name when its own is taken', async () => {
    const { id } = await put(server, ada, 'ports/tides.txt', 'first');
    const person = await speaking('en');
    const { page } = person;
    await person.go(`/files/${id}`);
    await button(page, t('files.delete')).click();
    await news(page, t('trash.moved', { name: 'tides.txt' }));
    await put(server, ada, 'ports/tides.txt', 'second');
    await button(page, t('ui.undo')).click();
    await news(page, t('trash.taken', { name: 'tides.txt' }));

    await person.go('/trash');
    await button(page, t('trash.restore_name', { name: 'tides.txt' })).click();
    await page.getByText(t('trash.taken_body', { key: 'ports/tides.txt' })).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: t('trash.restore'), exact: true }).click();
    await news(page, t('trash.restored', { name: 'ports/tides (2).txt' }));

    assert.equal((await read(`/api/repo-obj/${id}`)).key, 'ports/tides (2).txt');
    await person.close();
  });

  it('becomes final one by one, or all at once', async () => {
    for (const title of ['One', 'Two', 'Three']) await call(server, `/api/notes/${(await makeNote(title)).id}`, { token: ada, method: 'DELETE' });
    const person = await speaking('en');
    const { page } = person;
    await person.go('/trash?kind=note');
    await button(page, t('trash.purge_name', { name: 'Two' })).click();
    await page.getByRole('dialog').getByRole('button', { name: t('trash.purge'), exact: true }).click();
    await news(page, t('trash.purged', { name: 'Two' }));
    await page.getByTestId('trashed').nth(1).waitFor();
    await button(page, t('trash.empty')).click();
    await page.getByRole('dialog').getByRole('button', { name: t('trash.empty'), exact: true }).click();
    await news(page, t('trash.emptied', { n: 2 }));
    await page.getByText(t('trash.none_title')).waitFor();

    assert.deepEqual((await read('/api/trash')).items, []);
    await person.close();
  });
});

describe('the shares of a note', () => {
  for (const locale of LOCALES) {
    it(`are seen, changed and withdrawn in ${locale}`, async () => {
      const words = wordsOf(locale);
      const { id } = await makeNote(`Rates ${locale}`, 'Fuel at 14 %.', 'private');
      await call(server, `/api/notes/${id}/share`, { token: ada, body: { user_id: grace.id, permission: 'notes:read' } });
      const person = await speaking(locale);
      const { page } = person;
      const shares = async () => (await read(`/api/notes/${id}/shares`)).items.map((one) => [one.username, one.permission]);
      const become = (wanted) => until(`the shares are ${JSON.stringify(wanted)}`, async () => isDeepStrictEqual(await shares(), wanted));
      await person.go(`/notes/${id}`);
      await button(page, words('notes.share')).click();

      await page.getByTestId('share').getByText('Grace Hopper').waitFor();
      assert.equal(await button(page, words('notes.share_with', { name: 'Grace Hopper' })).count(), 0, 'who has it already is offered again');
      await page.getByLabel(words('notes.share_level_of', { name: 'Grace Hopper' })).selectOption('notes:write');
      await become([['grace', 'notes:write']]);
      await button(page, words('notes.share_withdraw', { name: 'Grace Hopper' })).click();
      await news(page, words('notes.unshared_with', { name: 'Grace Hopper' }));
      await become([]);
      await page.getByTestId('share').waitFor({ state: 'detached' });
      await button(page, words('notes.share_with', { name: 'Grace Hopper' })).waitFor();

      await person.close();
    });
  }
});

describe('an earlier text of a note', () => {
  it('is compared and brought back', async () => {
    const { id } = await makeNote('Watch list', 'Monday: quiet.');
    await call(server, `/api/notes/${id}`, { token: ada, method: 'PUT', body: { body: 'Tuesday: fog.' } });
    const person = await speaking('en');
    const { page } = person;
    await person.go(`/notes/${id}`);
    await button(page, t('ui.more_actions')).click();
    await page.getByRole('menuitem', { name: t('notes.history') }).click();

    await page.getByTestId('version').nth(1).waitFor();
    await button(page, t('versions.compare_version', { n: 1 })).click();
    await page.locator('[data-line=removed]', { hasText: 'Monday: quiet.' }).waitFor();
    await page.locator('[data-line=added]', { hasText: 'Tuesday: fog.' }).waitFor();
    await button(page, t('ui.done')).click();
    await button(page, t('versions.restore_version', { n: 1 })).click();
    await page.getByRole('dialog').getByRole('button', { name: t('versions.restore'), exact: true }).click();
    await news(page, t('versions.restored', { n: 1, now: 3 }));
    await page.locator('.cm-content', { hasText: 'Monday: quiet.' }).waitFor();

    assert.equal((await read(`/api/notes/${id}`)).body, 'Monday: quiet.');
    await person.close();
  });

  it('is given a name, which it keeps', async () => {
    const { id } = await makeNote('Rota', 'Monday: Ada.');
    const person = await speaking('en');
    const { page } = person;
    const name = async (n, text) => {
      await button(page, t('versions.name_title', { n })).click();
      await page.getByLabel(t('versions.name_field')).fill(text);
      await page.getByRole('dialog').getByRole('button', { name: t('ui.save'), exact: true }).click();
    };
    await person.go(`/notes/${id}/history`);
    await name(1, 'As agreed');
    await news(page, t('versions.named', { n: 1 }));
    await page.getByTestId('version').getByText('As agreed').waitFor();
    await call(server, `/api/notes/${id}`, { token: ada, method: 'PUT', body: { body: 'Monday: Grace.' } });
    await page.reload();
    await page.getByTestId('version').nth(1).getByText('As agreed').waitFor();
    await name(1, '');
    await news(page, t('versions.unnamed', { n: 1 }));

    assert.deepEqual((await read(`/api/notes/${id}/versions`)).items.map((one) => one.name), [null, null]);
    await person.close();
  });

  it('is only looked at by whom it was shown', async () => {
    const { id } = await makeNote('Read only', 'First.', 'private');
    await call(server, `/api/notes/${id}`, { token: ada, method: 'PUT', body: { body: 'Second.' } });
    await call(server, `/api/notes/${id}/share`, { token: ada, body: { user_id: grace.id, permission: 'notes:read' } });
    const person = await openPerson(browser, server, { token: grace.token });
    await person.go(`/notes/${id}/history`);
    await person.page.getByTestId('version').nth(1).waitFor();

    await button(person.page, t('versions.compare_version', { n: 1 })).waitFor();
    await person.close();
  });
});
