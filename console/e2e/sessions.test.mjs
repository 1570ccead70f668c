// The session is the browser's and nobody else's: people leave here and everywhere, and a script in the page takes nothing along.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, describe, it } from 'node:test';
import { CREDENTIAL, everythingKept, tryToGive } from './thief.mjs';
import { call, closeAll, confirm, found, join, openBrowser, openPerson, openServer, PASSWORD, settled, totp } from './world.mjs';
import { LOCALES, wordsOf } from './words.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const HOST = 'a provisioning token that is long enough for the test';
const t = wordsOf('en');
let browser, server, ada;
before(async () => {
  [browser, server] = await Promise.all([openBrowser(), openServer()]);
  ada = await found(server);
});
after(closeAll);

const button = (page, name) => page.getByRole('button', { name, exact: true });

async function examine(page, name) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document));
  assert.deepEqual(violations.map((one) => `${name}: ${one.id} ${one.nodes[0].target.join(' ')}`), []);
}

async function chooseInMenu({ page }, words, item) {
  await page.getByRole('button', { name: words('app.account_menu') }).click();
  await page.getByRole('menuitem', { name: words(item), exact: true }).click();
}

async function signInByHand({ page, address }, words, username = 'ada') {
  await page.goto(`${address}/login`);
  await page.getByLabel(words('signin.username')).fill(username);
  await page.getByLabel(words('signin.password'), { exact: true }).fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: words('app.account_menu') }).waitFor();
  // What is still asked for could hear that the session ended before the page is loaded again.
  await settled(page);
}

describe('signing out', () => {
  for (const locale of LOCALES) {
    it(`ends the session here, one elsewhere, and all of them, in ${locale}`, async () => {
      const words = wordsOf(locale);
      const house = await openServer();
      const owner = await found(house);
      await call(house, '/api/profile', { token: owner, body: { locale } });
      // They learn of an ended session by asking: one that hears of it first may be on its way to the sign-in when it is loaded again.
      const [laptop, phone, office] = await Promise.all([1, 2, 3].map(() => openPerson(browser, house, { locale, deaf: true })));
      for (const device of [laptop, phone, office]) await signInByHand(device, words);

      await laptop.go('/settings/security');
      await laptop.page.getByText(words('account.session_device', { browser: 'Chrome', system: 'Linux' })).first().waitFor();
      await laptop.page.getByText(words('account.session_here'), { exact: true }).waitFor();
      const list = laptop.page.getByRole('list', { name: words('account.sessions') });
      // The three browsers, and the program that set the instance up.
      assert.equal(await list.getByRole('listitem').count(), 4);
      await examine(laptop.page, 'sessions');
      await list.getByRole('button', { name: words('account.session_end_name', { name: words('account.session_device', { browser: 'Chrome', system: 'Linux' }) }) }).first().click();
      await laptop.page.getByTestId('toast').first().waitFor();
      await laptop.page.waitForFunction(() => document.querySelectorAll('main ul > li').length === 3);

      // The newest other one was the office.
      await office.page.reload();
      await office.page.getByText(words('signin.ended')).waitFor();
      await examine(office.page, 'ended');

      await chooseInMenu(phone, words, 'app.sign_out');
      await phone.page.getByRole('heading', { name: words('signin.title') }).waitFor();
      assert.deepEqual(await phone.context.cookies(), []);
      await signInByHand(phone, words);

      await chooseInMenu(laptop, words, 'app.sign_out_everywhere');
      await laptop.page.getByRole('heading', { name: words('signin.title') }).waitFor();
      await phone.page.reload();
      await phone.page.getByText(words('signin.ended')).waitFor();
      const refused = await fetch(`${house.address}/api/whoami`, { headers: { authorization: `Bearer ${owner}` } });
      assert.equal(refused.status, 401);
      for (const device of [laptop, phone, office]) await device.close();
      await house.close();
    });
  }

  it('takes the other tabs along', async () => {
    const person = await openPerson(browser, server);
    await signInByHand(person, t);
    const other = await person.context.newPage();
    await other.goto(`${server.address}/#/notes`);
    await other.getByRole('heading', { level: 1 }).waitFor();

    await chooseInMenu(person, t, 'app.sign_out');

    await other.getByRole('heading', { name: t('signin.title') }).waitFor();
    await person.close();
  });

  it('is not pretended while the server cannot be reached', async () => {
    const person = await openPerson(browser, server);
    await signInByHand(person, t);
    await person.context.setOffline(true);

    await chooseInMenu(person, t, 'app.sign_out');

    await person.page.getByTestId('toast').waitFor();
    assert.equal((await person.context.cookies()).length, 1);
    await person.context.setOffline(false);
    await person.close();
  });

  it('follows an upgrade: a token that was kept in the browser ends', async () => {
    const { token } = await call(server, '/api/login', { body: { username: 'ada', password: PASSWORD } });
    const person = await openPerson(browser, server);
    await person.page.goto(server.address);
    await person.page.evaluate((kept) => localStorage.setItem('atrium.session', kept), token);
    const [gone] = await Promise.all([person.page.waitForResponse((answer) => answer.url().endsWith('/api/logout')), person.page.reload()]);

    assert.equal(gone.status(), 200);
    assert.equal(await person.page.evaluate(() => localStorage.getItem('atrium.session')), null);
    assert.equal((await fetch(`${server.address}/api/whoami`, { headers: { authorization: `Bearer ${token}` } })).status, 401);
    await person.close();
  });
});

/** Right after somebody came in, whatever their way: a script on the origin looks around. */
async function assertNothingToTake(person, replies) {
  assert.ok(replies.length > 0, 'nobody signed in');
  for (const [path, body, headers] of replies) {
    assert.doesNotMatch(body, CREDENTIAL, `${path} hands the page a credential`);
    assert.equal(JSON.parse(body).token, null);
    assert.match(headers['set-cookie'], /; HttpOnly; SameSite=Strict; /);
  }
  assert.doesNotMatch(await person.page.evaluate(everythingKept), CREDENTIAL);
  assert.doesNotMatch(await person.page.evaluate(async () => [...(await fetch('/api/whoami')).headers].join()), CREDENTIAL);
  const tries = await person.page.evaluate(tryToGive);
  assert.ok(tries.length >= 80, `only ${tries.length} tries`);
  for (const [method, path, status, code] of tries) assert.deepEqual([method, path, status, code], [method, path, 403, code === 'access.permission_missing' || code === 'access.plane' ? code : 'identity.confirm_required']);
}

/** The answers to whatever signs somebody in. */
function listenTo({ page }) {
  const replies = [];
  page.on('response', async (answer) => {
    const { pathname } = new URL(answer.url());
    if (answer.ok() && ['/api/login', '/api/bootstrap', '/api/activate', '/api/password', '/api/password/reset'].includes(pathname)) replies.push([pathname, await answer.text(), await answer.allHeaders()]);
  });
  return replies;
}

describe('a script on the origin neither reads nor makes a credential', () => {
  it('after the first run', async () => {
    const fresh = await openServer();
    const person = await openPerson(browser, fresh);
    const replies = listenTo(person);
    await person.page.goto(fresh.address);
    await person.page.getByLabel(t('signin.company')).fill('Northwind Freight');
    await person.page.getByLabel(t('signin.team'), { exact: true }).fill('Operations');
    await person.page.getByLabel(t('signin.username')).fill('ada');
    await person.page.getByLabel(t('signin.password'), { exact: true }).fill(PASSWORD);
    await button(person.page, t('signin.create')).click();
    await person.page.getByRole('heading', { name: t('home.start_title') }).waitFor();

    await assertNothingToTake(person, replies);
    await person.close();
    await fresh.close();
  });

  it('after signing in with a password and a code', async () => {
    const person = await openPerson(browser, server);
    const { secret } = await call(server, '/api/2fa/enable', { token: ada, body: { password: PASSWORD } });
    const replies = listenTo(person);
    await person.page.goto(`${server.address}/login`);
    await person.page.getByLabel(t('signin.username')).fill('ada');
    await person.page.getByLabel(t('signin.password'), { exact: true }).fill(PASSWORD);
    await person.page.keyboard.press('Enter');
    await person.page.getByLabel(t('signin.code')).fill(totp(secret));
    await person.page.keyboard.press('Enter');
    await person.page.getByRole('heading', { name: t('home.recent') }).waitFor();

    await assertNothingToTake(person, replies);
    await call(server, '/api/2fa', { token: ada, method: 'DELETE', body: { password: PASSWORD } });
    await person.close();
  });

  it('after joining with a first token', async () => {
    const added = await call(server, '/api/members', { token: ada, body: { username: 'grace', role: 'owner' } });
    const person = await openPerson(browser, server);
    const replies = listenTo(person);
    await person.page.goto(`${server.address}/#/join?token=${added.token}`);
    await person.page.getByLabel(t('signin.new_password')).fill(PASSWORD);
    await button(person.page, t('signin.set_password')).click();
    await person.page.getByRole('heading', { name: t('home.recent') }).waitFor();
    // The link's token was in this page, and has ended: what is left is a new page.
    assert.equal((await fetch(`${server.address}/api/whoami`, { headers: { authorization: `Bearer ${added.token}` } })).status, 401);
    await person.page.reload();
    await person.settled();

    await assertNothingToTake(person, replies);
    await person.close();
  });

  it('after activating a hosted workspace', async () => {
    const hosted = await openServer({ SERVICE_HOSTED: '1', SERVICE_PROVISION_TOKEN: HOST });
    const { activation_url: link } = await call(hosted, '/api/provision', { token: HOST, body: { username: 'ada', org: 'Northwind' } });
    const person = await openPerson(browser, hosted);
    const replies = listenTo(person);
    await person.page.goto(link);
    await person.page.getByLabel(t('signin.new_password')).fill(PASSWORD);
    await button(person.page, t('signin.set_password')).click();
    await person.page.getByRole('heading', { name: t('home.recent') }).waitFor();
    await person.page.reload();
    await person.settled();

    await assertNothingToTake(person, replies);
    await person.close();
    await hosted.close();
  });
});

describe('whoever is at the keyboard', () => {
  it('makes a token with the password, and is told when it is wrong or missing', async () => {
    await join(server, ada, 'lucia', 'Lucía Ferrer', 'owner');
    const person = await openPerson(browser, server);
    await signInByHand(person, t, 'lucia');
    const { page } = person;
    await person.go('/settings/tokens/new');
    await page.getByLabel(t('tokens.name')).fill('weighbridge');
    await button(page, t('tokens.create')).click();
    await page.getByRole('dialog').getByText(t('ui.needed')).waitFor();
    await page.locator('input[name=own_password]').fill('not the password');
    await button(page, t('tokens.create')).click();
    await page.getByText(t('account.wrong_password')).waitFor();
    await examine(page, 'wrong password');
    await confirm(page);
    await button(page, t('tokens.create')).click();

    const secret = await page.getByTestId('secret').first().innerText();
    const { user, permissions } = await call(server, '/api/whoami', { token: secret });
    assert.equal(user.username, 'lucia');
    assert.ok(permissions.every((one) => one.endsWith(':read')), permissions.join());
    await person.close();
  });

  it('downloads and looks at files with the session the browser has', async () => {
    const person = await openPerson(browser, server);
    await signInByHand(person, t);
    const stored = await fetch(`${server.address}/api/repo/bill.pdf`, { method: 'PUT', headers: { authorization: `Bearer ${ada}`, 'content-type': 'application/pdf' }, body: '%PDF-1.4\n%%EOF' });
    const { id } = await stored.json();
    const [shown] = await Promise.all([person.page.waitForResponse((answer) => answer.url().includes(`/api/repo-obj/${id}/content`)), person.go(`/files/${id}`)]);
    const [saved] = await Promise.all([person.page.waitForEvent('download'), button(person.page, t('files.download')).click()]);

    assert.equal(shown.status(), 200);
    assert.equal(saved.suggestedFilename(), 'bill.pdf');
    await person.close();
  });
});
