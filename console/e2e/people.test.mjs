// People come back, change and leave: a forgotten password, another role, keys that end, somebody who goes.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { call, closeAll, confirm, found, join, openBrowser, openPerson, openServer, PASSWORD, put, totp } from './world.mjs';
import { LOCALES, wordsOf } from './words.mjs';

const t = wordsOf('en');
const NEW = 'a lighthouse in the fog';
let browser, server, ada;
before(async () => {
  [browser, server] = await Promise.all([openBrowser(), openServer()]);
  ada = await found(server);
});
after(closeAll);

const button = (page, name) => page.getByRole('button', { name, exact: true });
const dialog = (page, name) => page.getByRole('dialog').getByRole('button', { name, exact: true });
const news = (page, text) => page.getByTestId('toast').getByText(text).waitFor();

async function speaking(locale) {
  await call(server, '/api/profile', { token: ada, body: { locale } });
  return openPerson(browser, server, { locale, token: ada });
}

/** The menu beside somebody on the members' page. */
async function choose(person, words, name, action) {
  await person.go('/settings/members');
  await button(person.page, words('members.actions_for', { name })).click();
  await person.page.getByRole('menuitem', { name: words(action) }).click();
}

async function linkFor(person, words, name) {
  await choose(person, words, name, 'members.reset');
  await confirm(person.page);
  await dialog(person.page, words('members.reset_make')).click();
  const link = await person.page.getByTestId('secret').innerText();
  await dialog(person.page, words('members.passed_on')).click();
  return link;
}

describe('a forgotten password', () => {
  for (const locale of LOCALES) {
    it(`is chosen anew by an admin's link in ${locale}`, async () => {
      const words = wordsOf(locale);
      const [username, name] = [`grace-${locale}`, `Grace ${locale}`];
      const grace = await join(server, ada, username, name);
      await call(server, '/api/profile', { token: grace.token, body: { locale } });
      const stranger = await openPerson(browser, server, { locale });
      await stranger.go('/sign-in');
      await stranger.page.getByText(words('signin.forgot')).click();
      await stranger.page.getByText(words('signin.forgot_ask')).waitFor();

      const admin = await speaking(locale);
      const link = await linkFor(admin, words, name);
      const { page } = stranger;
      await page.goto('about:blank');
      await page.goto(link);
      await page.getByLabel(words('signin.new_password')).fill(NEW);
      assert.ok(!page.url().includes('token='), 'the token stays in the address bar');
      await button(page, words('signin.set_password')).click();
      await page.getByRole('heading', { name: words('home.recent') }).waitFor();

      await assert.rejects(call(server, '/api/whoami', { token: grace.token }), /401/);
      await call(server, '/api/login', { body: { username, password: NEW } });
      await page.goto('about:blank');
      await page.goto(link);
      await page.getByLabel(words('signin.new_password')).fill(`${NEW} again`);
      await button(page, words('signin.set_password')).click();
      await page.getByRole('alert').getByText(words('errors.identity_link_spent')).waitFor();
      for (const one of [admin, stranger]) await one.close();
    });
  }

  it('still asks for the second factor', async () => {
    const linus = await join(server, ada, 'linus', 'Linus Berg');
    const { secret } = await call(server, '/api/2fa/enable', { token: linus.token, body: { password: PASSWORD } });
    const admin = await speaking('en');
    const link = await linkFor(admin, t, 'Linus Berg');
    const person = await openPerson(browser, server);
    const { page } = person;
    await page.goto(link);
    await page.getByLabel(t('signin.new_password')).fill(NEW);
    await button(page, t('signin.set_password')).click();
    await page.getByLabel(t('signin.code')).fill('000000');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText(t('errors.identity_code_refused')).waitFor();
    await page.getByLabel(t('signin.code')).fill(totp(secret));
    await page.keyboard.press('Enter');

    await page.getByRole('heading', { name: t('home.recent') }).waitFor();
    for (const one of [admin, person]) await one.close();
  });
});

describe('somebody who leaves', () => {
  for (const locale of LOCALES) {
    it(`hands over what they shared in ${locale}`, async () => {
      const words = wordsOf(locale);
      const name = `Jeroen ${locale}`;
      const jeroen = await join(server, ada, `jeroen-${locale}`, name);
      const write = (title, visibility) => call(server, '/api/notes', { token: jeroen.token, body: { title, visibility, body: 'x' } });
      const shared = await write('Berths', 'team');
      await write('Diary', 'private');
      await put(server, jeroen.token, `jeroen-${locale}/cranes.txt`, 'three', 'text/plain', '?visibility=team');
      await call(server, '/api/s3/credentials', { token: jeroen.token, body: { name: 'Laptop' } });

      const admin = await speaking(locale);
      const { page } = admin;
      await choose(admin, words, name, 'members.remove');
      await page.getByText(words('members.remove_lead')).waitFor();
      await page.getByLabel(words('members.heir')).selectOption({ label: 'Ada Lovelace' });
      await dialog(page, words('members.remove_name', { name })).click();
      await page.getByRole('heading', { name: words('members.left_title', { name }) }).waitFor();
      assert.deepEqual(await page.getByTestId('left').allInnerTexts(), [
        words('members.left_moved', { name: 'Ada Lovelace', notes: 1, files: 1 }),
        words('members.left_trashed', { notes: 1, files: 0 }),
        words('members.left_ended', { tokens: 0, keys: 1 }),
      ]);
      await dialog(page, words('ui.done')).click();
      await page.locator('tr', { hasText: name }).waitFor({ state: 'detached' });

      const me = (await call(server, '/api/whoami', { token: ada })).user.id;
      assert.equal((await call(server, `/api/notes/${shared.id}`, { token: ada })).owner_id, me);
      await assert.rejects(call(server, '/api/whoami', { token: jeroen.token }), /401/);
      await admin.close();
    });
  }

  it('is never the one who looks', async () => {
    const marta = await join(server, ada, 'marta', 'Marta Vidal', 'owner');
    const person = await openPerson(browser, server, { token: marta.token });
    await person.go('/settings/members');
    assert.equal(await button(person.page, t('members.actions_for', { name: 'Marta Vidal' })).count(), 0, 'somebody is offered to remove themselves');
    await person.close();
  });
});

describe('whoever manages a team', () => {
  it('gives somebody another role', async () => {
    const tom = await join(server, ada, 'tom', 'Tom Becker', 'viewer');
    const admin = await speaking('en');
    const { page } = admin;
    await choose(admin, t, 'Tom Becker', 'members.change_role');
    await page.getByRole('dialog').getByLabel(t('members.role')).selectOption('admin');
    await confirm(page);
    await dialog(page, t('members.change_role_action')).click();
    await news(page, t('members.role_changed', { name: 'Tom Becker', role: t('members.role_admin') }));

    assert.equal((await call(server, '/api/whoami', { token: tom.token })).role, 'admin');
    await admin.close();
  });

  it('sees and ends the keys and tokens of a member', async () => {
    const ines = await join(server, ada, 'ines', 'Inés Ortega', 'admin');
    const { token } = await call(server, '/api/tokens', { token: ines.token, body: { name: 'Weighbridge' } });
    await call(server, '/api/s3/credentials', { token: ines.token, body: { name: 'Scanner' } });
    const admin = await speaking('en');
    const { page } = admin;
    await choose(admin, t, 'Inés Ortega', 'members.credentials');
    for (const name of ['Scanner', 'Weighbridge']) {
      await dialog(page, t('members.end_name', { name })).click();
      await dialog(page, t('members.end_now')).click();
      await news(page, t('members.credential_ended', { name }));
      await page.getByTestId('credential').filter({ hasText: name }).waitFor({ state: 'detached' });
    }

    await page.getByText(t('members.no_keys')).waitFor();
    await page.getByText(t('members.no_tokens')).waitFor();
    await assert.rejects(call(server, '/api/whoami', { token }), /401/);
    await admin.close();
  });

  it('does nothing to somebody who holds more', async () => {
    const admin = await join(server, ada, 'olga', 'Olga Admin', 'admin');
    const person = await openPerson(browser, server, { token: admin.token });
    await person.go('/settings/members');
    await person.page.getByRole('cell', { name: 'Ada Lovelace' }).waitFor();

    assert.equal(await button(person.page, t('members.actions_for', { name: 'Ada Lovelace' })).count(), 0);
    await person.close();
  });
});

describe('one’s own account', () => {
  it('says what still works after a new password, and ends it', async () => {
    const pia = await join(server, ada, 'pia', 'Pia Holm', 'admin');
    const { token } = await call(server, '/api/tokens', { token: pia.token, body: { name: 'CI' } });
    const person = await openPerson(browser, server, { token: pia.token });
    const { page } = person;
    await person.go('/settings/security');
    await page.getByLabel(t('account.current_password'), { exact: true }).fill(PASSWORD);
    await page.getByLabel(t('account.new_password'), { exact: true }).fill(NEW);
    await button(page, t('account.change_password')).click();
    await page.getByText(t('account.left', { tokens: 1, keys: 0 })).waitFor();
    await call(server, '/api/whoami', { token });
    await button(page, t('account.left_end')).click();
    await page.getByText(t('account.left_ended', { tokens: 1, keys: 0 })).waitFor();

    await assert.rejects(call(server, '/api/whoami', { token }), /401/);
    await person.close();
  });

  it('turns two-factor off again when the app shows no right code', async () => {
    const leo = await join(server, ada, 'leo', 'Leo Lind');
    const person = await openPerson(browser, server, { token: leo.token });
    const { page } = person;
    await person.go('/settings/security');
    await button(page, t('account.turn_on')).click();
    await confirm(page);
    await dialog(page, t('ui.continue')).click();
    await page.getByLabel(t('account.first_code')).fill('123 456');
    await dialog(page, t('ui.continue')).click();
    await page.getByText(t('account.first_code_wrong')).waitFor();
    await dialog(page, t('account.turn_off_again')).click();
    await news(page, t('account.turned_off'));

    await call(server, '/api/login', { body: { username: 'leo', password: PASSWORD } });
    await person.close();
  });
});
