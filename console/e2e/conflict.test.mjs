// Two people, one note: whatever either of them wrote is there in the end.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { call, closeAll, found, join, openBrowser, openPerson, openServer, until } from './world.mjs';
import { wordsOf } from './words.mjs';

const t = wordsOf('en');
let browser, server, ada, grace;
before(async () => {
  [browser, server] = await Promise.all([openBrowser(), openServer()]);
  ada = await found(server);
  grace = (await join(server, ada, 'grace', 'Grace Hopper')).token;
});
after(closeAll);

const makeNote = (body) => call(server, '/api/notes', { token: ada, body: { title: 'Watch list', body, visibility: 'team' } });
const readNote = (id) => call(server, `/api/notes/${id}`, { token: ada });
const editor = (page) => page.getByLabel(t('notes.body'), { exact: true });
const saved = (page) => page.locator('[data-testid=save-state][data-state=saved]').waitFor();
const appendTo = async (page, text) => {
  await editor(page).click();
  await page.keyboard.press('Control+End');
  // At once: keys that come slowly are stored one by one, and the question of a conflict would come between them.
  await page.keyboard.insertText(text);
};

describe('writing together', () => {
  it('keeps both texts when two browsers save', async () => {
    const note = await makeNote('# Monday\n\nquiet night');
    const one = await openPerson(browser, server, { token: ada, deaf: true });
    const two = await openPerson(browser, server, { token: grace, deaf: true });
    await one.go(`/notes/${note.id}`);
    await two.go(`/notes/${note.id}`);
    await editor(two.page).waitFor();

    await appendTo(one.page, '\nAda saw a fog bank');
    await saved(one.page);
    await appendTo(two.page, '\nGrace heard the horn');
    await two.page.getByRole('heading', { name: t('writing.conflict_title') }).waitFor();
    const [mine, theirs] = await two.page.locator('article').getByRole('region').allInnerTexts();
    assert.match(mine, /Grace heard the horn/);
    assert.match(theirs, /Ada saw a fog bank/);
    await two.page.getByRole('button', { name: t('writing.conflict_save') }).click();

    const body = await until('the text of both is stored', async () => { const text = (await readNote(note.id)).body; return text.includes('Grace') && text; });
    for (const line of ['quiet night', 'Ada saw a fog bank', 'Grace heard the horn']) assert.ok(body.includes(line), `${line} is lost`);
    await one.close();
    await two.close();
  });

  it('lets the person decide, and saves what they decided', async () => {
    const note = await makeNote('start');
    const one = await openPerson(browser, server, { token: ada, deaf: true });
    await one.go(`/notes/${note.id}`);
    await editor(one.page).waitFor();
    await call(server, `/api/notes/${note.id}`, { token: grace, method: 'PUT', body: { body: 'start\nfrom a program' } });

    await appendTo(one.page, ' by hand');
    await one.page.getByRole('heading', { name: t('writing.conflict_title') }).waitFor();
    await one.page.getByRole('button', { name: t('writing.conflict_from_theirs') }).click();
    await one.page.getByRole('button', { name: t('writing.conflict_save') }).click();
    await one.page.getByRole('heading', { name: t('writing.conflict_title') }).waitFor({ state: 'detached' });
    await saved(one.page);

    assert.equal((await readNote(note.id)).body, 'start\nfrom a program');
    await one.close();
  });

  it('keeps the text of a tab that dies without a network', async () => {
    const note = await makeNote('before');
    const one = await openPerson(browser, server, { token: ada, deaf: true });
    await one.go(`/notes/${note.id}`);
    await editor(one.page).waitFor();
    await one.context.setOffline(true);
    await appendTo(one.page, ' and written in the tunnel');
    await one.page.locator('[data-testid=save-state][data-state=waiting]').waitFor();
    await one.page.getByText(t('app.offline')).waitFor();
    await one.page.close();
    await one.context.setOffline(false);

    const page = await one.context.newPage();
    await page.goto(`${server.address}/#/notes/${note.id}`);
    await page.getByText('written in the tunnel').first().waitFor();
    await saved(page);

    assert.equal((await readNote(note.id)).body, 'before and written in the tunnel');
    await one.close();
  });

  it('saves by itself once the network is back', async () => {
    const note = await makeNote('before');
    const one = await openPerson(browser, server, { token: ada, deaf: true });
    await one.go(`/notes/${note.id}`);
    await editor(one.page).waitFor();
    await one.context.setOffline(true);
    await appendTo(one.page, ' offline');
    await one.page.locator('[data-testid=save-state][data-state=waiting]').waitFor();

    await one.context.setOffline(false);
    await saved(one.page);

    assert.equal((await readNote(note.id)).body, 'before offline');
    await one.page.getByText(t('app.offline')).waitFor({ state: 'detached' });
    await one.close();
  });
});
