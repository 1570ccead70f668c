// The way around: few daily places, Settings by permission, addresses of former consoles, a phone's bar.
import assert from 'node:assert/strict';
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

const main = (page) => page.getByRole('navigation', { name: t('app.navigation') });
const namesIn = (links) => links.evaluateAll((found) => found.map((link) => link.textContent.trim()));

describe('the sidebar', () => {
  it('has at most ten places for an operator, and none of them below the fold at 720 px', async () => {
    const person = await openPerson(browser, server, { token: ada, width: 1280, height: 720 });
    await person.go('/');

    const links = main(person.page).getByRole('link');
    assert.deepEqual(await namesIn(links), ['home', 'search', 'notes', 'files', 'chat', 'translate', 'automation', 'jobs', 'settings'].map((name) => t(`nav.${name}`)));
    for (const link of await links.all()) {
      const { y, height } = await link.boundingBox();
      assert.ok(y + height <= 720);
    }
    assert.equal(await person.page.locator('aside nav').first().evaluate(({ parentElement: box }) => box.scrollHeight > box.clientHeight), false);
    await person.close();
  });

  it('shows a viewer only what they can use', async () => {
    const viewer = await join(server, ada, 'vera', 'Vera', 'viewer');
    const person = await openPerson(browser, server, { token: viewer.token });
    await person.go('/files');

    assert.deepEqual(await namesIn(main(person.page).getByRole('link')), ['home', 'search', 'notes', 'files', 'automation', 'settings'].map((name) => t(`nav.${name}`)));
    assert.deepEqual(await namesIn(person.page.getByRole('navigation', { name: t('nav.files') }).getByRole('link')), ['all_files', 'documents', 'shared'].map((name) => t(`nav.${name}`)));
    await person.go('/settings');
    await person.page.getByRole('main').getByRole('link', { name: t('nav.usage') }).waitFor();
    const sections = await namesIn(person.page.getByRole('main').getByRole('heading', { level: 2 }));
    assert.deepEqual(sections, ['you', 'team'].map((name) => t(`nav.section_${name}`)));
    await person.close();
  });

  it('marks the place of a tab and of a page below it', async () => {
    const person = await openPerson(browser, server, { token: ada });
    for (const path of ['/files', '/documents', '/shared', '/trash', '/documents/new']) {
      await person.go(path);
      assert.equal(await main(person.page).locator('[aria-current=page]').innerText(), t('nav.files'), path);
    }
    await person.close();
  });
});

describe('pins', () => {
  const pinned = (page) => page.getByRole('navigation', { name: t('app.pins') }).getByRole('link');
  const pin = (page) => page.getByRole('main').getByRole('button', { name: t('app.pin'), exact: true });

  it('keep a note, a document, a folder and a settings page at hand, for one person only', async () => {
    const note = await call(server, '/api/notes', { token: ada, body: { title: 'Tide table', body: 'High at four.', visibility: 'team' } });
    const document = await call(server, '/api/documents', { token: ada, body: { title: 'Handbook', body: '# Pilots', visibility: 'team' } });
    await put(server, ada, 'ports/gate-b.txt', 'Opens at nine.');
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    for (const path of [`/notes/${note.id}`, `/documents/${document.id}`, '/files?at=ports/', '/settings/members']) {
      await person.go(path);
      await pin(page).click();
      await page.getByRole('main').getByRole('button', { name: t('app.unpin'), exact: true }).waitFor();
    }
    await person.go('/notes');
    assert.equal(await pin(page).count(), 0);
    assert.deepEqual(await namesIn(pinned(page)), ['Tide table', 'Handbook', 'ports', t('nav.members')]);
    await pinned(page).nth(2).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'ports', level: 1 }).waitFor();

    const other = await openPerson(browser, server, { token: (await join(server, ada, 'nora', 'Nora')).token });
    await other.go('/');
    assert.equal(await pinned(other.page).count(), 0);
    await other.close();
    await person.close();
  });

  it('go with the thing, and come back with it', async () => {
    const note = await call(server, '/api/notes', { token: ada, body: { title: 'Old list', body: '', visibility: 'team' } });
    const gone = await call(server, '/api/documents', { token: ada, body: { title: 'Gone', body: '', visibility: 'team' } });
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    for (const path of [`/documents/${gone.id}`, `/notes/${note.id}`]) {
      await person.go(path);
      await pin(page).click();
    }
    await page.getByRole('button', { name: t('ui.more_actions') }).click();
    await page.getByRole('menuitem', { name: t('notes.delete') }).click();
    await page.getByTestId('toast').getByRole('button', { name: t('ui.undo') }).waitFor();
    assert.deepEqual(await namesIn(pinned(page)), ['Gone']);
    await page.getByTestId('toast').getByRole('button', { name: t('ui.undo') }).click();
    await pinned(page).filter({ hasText: 'Old list' }).waitFor();

    await call(server, `/api/documents/${gone.id}`, { token: ada, method: 'DELETE' });
    await page.reload();
    await pinned(page).filter({ hasText: 'Gone' }).click();
    await page.getByRole('heading', { name: t('documents.missing_title'), level: 1 }).waitFor();
    await pinned(page).filter({ hasText: 'Gone' }).waitFor({ state: 'detached' });
    assert.deepEqual(await namesIn(pinned(page)), ['Old list']);
    await person.close();
  });

  it('are eight at most, pinned from the palette and unpinned by keyboard, and push no place below the fold', async () => {
    const person = await openPerson(browser, server, { token: ada, width: 1280, height: 720 });
    const { page } = person;
    const takeFromPalette = async (label) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('option', { name: label, exact: true }).click();
    };
    const names = ['documents', 'shared', 'trash', 'profile', 'security', 'appearance', 'members', 'tokens', 'usage'];
    for (const [place, name] of names.entries()) {
      await person.go(place < 3 ? `/${name}` : `/settings/${name}`);
      // A key that is pressed before the address has changed opens the palette over the screen before, and goes with it.
      await page.getByRole('heading', { name: t(`nav.${name}`), level: 1, exact: true }).waitFor();
      await pin(page).waitFor();
      await takeFromPalette(t('app.pin'));
    }
    await page.getByTestId('toast').getByText(t('app.pins_full', { n: 8 })).waitFor();
    await person.go('/');
    assert.equal(await pinned(page).count(), 8);
    for (const link of await main(page).getByRole('link').all()) {
      const { y, height } = await link.boundingBox();
      assert.ok(y + height <= 720);
    }
    await examineBoth(page, 'pins');

    await page.getByRole('button', { name: t('app.unpin_name', { name: t('nav.shared') }) }).focus();
    await page.keyboard.press('Enter');
    await pinned(page).filter({ hasText: t('nav.shared') }).waitFor({ state: 'detached' });
    assert.equal(await pinned(page).count(), 7);
    await person.close();
  });
});

describe('addresses of former consoles', () => {
  it('lead to the same thing in Settings', async () => {
    const person = await openPerson(browser, server, { token: ada });
    for (const [former, now, heading] of [
      ['/members', '/settings/members', 'nav.members'],
      ['/account/security', '/settings/security', 'nav.security'],
      ['/account/preferences', '/settings/appearance', 'nav.appearance'],
      ['/instance/companies', '/settings/instance/companies', 'nav.companies'],
    ]) {
      await person.go(former);
      await person.page.getByRole('heading', { name: t(heading), level: 1 }).waitFor();
      assert.equal(new URL(person.page.url()).hash, `#${now}`);
    }
    await person.close();
  });
});

describe('on a phone', () => {
  it('a bar leads to the daily places, and Settings is a page', async () => {
    const person = await openPerson(browser, server, { token: ada, width: 360, height: 740 });
    const { page } = person;
    await person.go('/');
    const bar = main(page);
    assert.deepEqual(await namesIn(bar.getByRole('link')), ['home', 'notes', 'files'].map((name) => t(`nav.${name}`)));

    await bar.getByRole('link', { name: t('nav.files') }).click();
    await page.getByRole('heading', { name: t('nav.files'), level: 1 }).waitFor();
    await bar.getByRole('button', { name: t('nav.more') }).click();
    await page.getByRole('dialog').getByRole('link', { name: t('nav.settings') }).click();
    await page.getByRole('main').getByRole('link', { name: t('nav.members') }).click();
    await page.getByRole('heading', { name: t('nav.members'), level: 1 }).waitFor();
    await page.getByRole('banner').getByRole('link', { name: t('nav.settings') }).click();
    await page.getByRole('heading', { name: t('nav.settings'), level: 1 }).waitFor();
    await person.close();
  });
});
