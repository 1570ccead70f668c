// The first hour of a company, in every language: set up, write, share, read, protect, come back.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ask, closeAll, confirm, openBrowser, openPerson, openServer, PASSWORD, totp } from './world.mjs';
import { LOCALES, wordsOf } from './words.mjs';

let browser;
before(async () => { browser = await openBrowser(); });
after(closeAll);

async function bootstrap({ page, address }, t) {
  await page.goto(address);
  await page.getByLabel(t('signin.company')).fill('Northwind Freight');
  await page.getByLabel(t('signin.team'), { exact: true }).fill('Operations');
  await page.getByLabel(t('signin.username')).fill('ada');
  await page.getByLabel(t('signin.password'), { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: t('signin.create') }).click();
  await page.getByRole('heading', { name: t('home.start_title') }).waitFor();
}

async function writeNote({ page }, t) {
  await page.getByRole('link', { name: t('nav.new_note') }).first().click();
  const title = page.getByLabel(t('notes.title_field'));
  await title.waitFor();
  await title.fill('Rotterdam handover');
  await page.getByLabel(t('notes.body'), { exact: true }).click();
  await page.keyboard.type('# Berth 7\n\n- call the pilot');
  await page.locator('[data-testid=save-state][data-state=saved]').waitFor();
  return page.url();
}

async function invite({ page, address }, t) {
  await page.goto(`${address}/#/settings/members/new`);
  await page.getByLabel(t('members.username')).fill('grace');
  await page.locator('input[name=display_name]').fill('Grace Hopper');
  await confirm(page);
  await page.getByRole('dialog').getByRole('button', { name: t('nav.add_member') }).click();
  const link = await page.getByTestId('secret').first().innerText();
  await page.getByRole('button', { name: t('members.passed_on') }).click();
  return link;
}

async function share({ page }, t, note) {
  await page.goto(note.replace(/\?.*/, ''));
  await page.getByRole('button', { name: t('notes.share'), exact: true }).click();
  await page.getByLabel(t('notes.share_level')).selectOption('notes:write');
  assert.deepEqual(await page.getByLabel(t('notes.share_level')).locator('option').evaluateAll((options) => options.map((one) => one.value)), ['notes:read', 'notes:write', 'notes:delete', 'notes:manage']);
  await page.getByRole('button', { name: t('notes.share_with', { name: 'Grace Hopper' }) }).click();
  await page.getByTestId('toast').getByText(t('notes.shared_with', { name: 'Grace Hopper' })).waitFor();
  await page.getByRole('button', { name: t('ui.done') }).click();
}

async function joinByLink(person, t, link, note) {
  const { page } = person;
  await page.goto(link);
  await page.getByLabel(t('signin.new_password')).fill(PASSWORD);
  await page.getByRole('button', { name: t('signin.set_password') }).click();
  await page.getByRole('heading', { name: t('home.recent') }).waitFor();
  assert.ok(!page.url().includes('token='), 'the first token stays in the address bar');
  await page.goto(note);
  await page.getByText('Berth 7').first().waitFor();
  await page.getByText('call the pilot').first().waitFor();
}

async function enrol({ page, address }, t) {
  await page.goto(`${address}/#/settings/security`);
  await page.getByRole('button', { name: t('account.turn_on') }).click();
  await confirm(page);
  await page.getByRole('button', { name: t('ui.continue') }).click();
  await page.getByRole('img', { name: t('account.qr') }).waitFor();
  const secret = await page.getByTestId('totp-secret').innerText();
  await page.getByLabel(t('account.first_code')).fill(totp(secret));
  await page.getByRole('dialog').getByRole('button', { name: t('ui.continue') }).click();
  const codes = await page.getByTestId('recovery-code').allInnerTexts();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: t('account.codes_download') }).click();
  assert.match((await download).suggestedFilename(), /codes\.txt$/);
  await page.getByRole('button', { name: t('account.codes_kept') }).click();
  await page.getByText(t('account.codes_left', { n: 10 })).waitFor();
  return { secret, codes };
}

async function signIn({ page, address }, t, code, recovery = false) {
  await page.goto(`${address}/login`);
  await page.getByLabel(t('signin.username')).fill('ada');
  await page.getByLabel(t('signin.password'), { exact: true }).fill(PASSWORD);
  await page.keyboard.press('Enter');
  if (recovery) await page.getByRole('button', { name: t('signin.use_recovery') }).click();
  await page.getByLabel(t(recovery ? 'signin.recovery_code' : 'signin.code')).fill(code);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: t('home.recent') }).waitFor();
}

describe('the first hour', () => {
  for (const locale of LOCALES) {
    it(`works in ${locale}`, async () => {
      const t = wordsOf(locale);
      const server = await openServer();
      const ada = await openPerson(browser, server, { locale });
      const grace = await openPerson(browser, server, { locale });
      await bootstrap(ada, t);
      assert.equal(await ada.page.evaluate(() => document.documentElement.lang), locale);

      const note = await writeNote(ada, t);
      const link = await invite(ada, t);
      await share(ada, t, note);
      await joinByLink(grace, t, link, note);
      const { secret, codes } = await enrol(ada, t);

      const again = await openPerson(browser, server, { locale });
      await signIn(again, t, totp(secret, Date.now() + 30_000));
      assert.equal((await ask(again.page, '/api/whoami')).locale, locale);
      const lost = await openPerson(browser, server, { locale });
      await signIn(lost, t, codes[0], true);
      for (const person of [ada, grace, again, lost]) await person.close();
      await server.close();
    });
  }

  it('works by keyboard alone', async () => {
    const t = wordsOf('en');
    const server = await openServer();
    const ada = await openPerson(browser, server);
    const { page } = ada;
    const type = (text) => page.keyboard.type(text);
    const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
    const tabTo = async (name) => {
      for (let at = 0; at < 60; at++) {
        const here = await page.evaluate(() => { const e = document.activeElement; return (e?.getAttribute('aria-label') || e?.labels?.[0]?.textContent || e?.textContent || '').trim(); });
        if (here.startsWith(name)) return;
        await press('Tab');
      }
      throw new Error(`Tab never reaches ${name}`);
    };
    await page.goto(server.address);
    await page.getByLabel(t('signin.company')).waitFor();
    await type('Northwind Freight');
    await press('Tab');
    await type('Operations');
    await press('Tab');
    await type('ada');
    await press('Tab');
    await type(PASSWORD);
    await press('Enter');
    await page.getByRole('heading', { name: t('home.start_title') }).waitFor();

    // Two keys to a note: N creates it with its title selected, the next letter writes.
    await press('n');
    await page.getByLabel(t('notes.title_field')).waitFor();
    await page.waitForFunction(() => document.activeElement?.selectionEnd > 0);
    await type('Pilot hours');
    await press('Enter');
    await page.locator('.cm-focused').waitFor();
    await type('- from 06:00');
    await page.locator('[data-testid=save-state][data-state=saved]').waitFor();

    await press('Control+k');
    await type('add a mem');
    await press('Enter');
    await page.getByLabel(t('members.username')).waitFor();
    await type('grace');
    await press('Tab');
    await type('Grace Hopper');
    await tabTo(t('app.own_password'));
    await type(PASSWORD);
    await press('Enter');
    const link = await page.getByTestId('secret').first().innerText();
    await tabTo(t('members.passed_on'));
    await press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    await press('g', 'n');
    await page.locator('[data-row]', { hasText: 'Pilot hours' }).waitFor();
    await press('j', 'Enter');
    await page.getByLabel(t('notes.title_field')).waitFor();
    await press('s');
    await page.getByRole('dialog').waitFor();
    await tabTo(t('notes.share_with', { name: 'Grace Hopper' }));
    await press('Enter');
    await page.getByTestId('toast').getByText(t('notes.shared_with', { name: 'Grace Hopper' })).waitFor();
    await press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    const grace = await openPerson(browser, server);
    await joinByLinkWithKeys(grace, link, t);
    await press('?');
    await page.getByRole('heading', { name: t('app.help_title') }).waitFor();
    for (const person of [ada, grace]) await person.close();
    await server.close();
  });
});

async function joinByLinkWithKeys({ page }, link, t) {
  await page.goto(link);
  await page.getByLabel(t('signin.new_password')).waitFor();
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: t('home.recent') }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('n');
  await page.getByRole('heading', { name: t('nav.notes'), level: 1 }).waitFor();
  await page.locator('[data-row]', { hasText: 'Pilot hours' }).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Pilot hours' }).waitFor();
}
