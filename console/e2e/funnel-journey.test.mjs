// From an instance that has just been started to a stranger who owns a company on it: one path, in browsers alone.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { BOARD, FORM, prospect } from './onboarding-screens.mjs';
import { wordsOf } from './words.mjs';
import { ask, closeAll, confirm, openBrowser, openPerson, openServer, PASSWORD } from './world.mjs';

const t = wordsOf('en');
let browser, server;
before(async () => { [browser, server] = await Promise.all([openBrowser(), openServer({ SERVICE_HOME: 'beta' })]); });
after(closeAll);

async function setUp({ page }) {
  // Before there is a team to sign up with, the root address is where one is made.
  await page.goto(server.address);
  await page.getByLabel(t('signin.company')).fill('Northwind Freight');
  await page.getByLabel(t('signin.team'), { exact: true }).fill('Operations');
  await page.getByLabel(t('signin.username')).fill('ada');
  await page.getByLabel(t('signin.password'), { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: t('signin.create') }).click();
  await page.getByRole('heading', { name: t('home.start_title') }).waitFor();
}

async function publishForm({ page }) {
  await page.evaluate((path) => { location.hash = path; }, `#${FORM}?view=texts`);
  await page.getByLabel(t('onboarding.text_in', { name: 'copy.title', language: 'English' })).fill('Berths for everybody');
  await page.getByRole('button', { name: t('onboarding.save_draft') }).click();
  await page.frameLocator('[data-testid=form-preview]').getByRole('heading', { name: 'Berths for everybody' }).waitFor();
  await page.getByRole('button', { name: t('onboarding.publish'), exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: t('onboarding.publish'), exact: true }).click();
  await page.getByTestId('toast').getByText(t('onboarding.published', { n: 1 })).waitFor();
}

async function signUp({ page }) {
  await page.goto(server.address);
  await page.getByRole('heading', { name: 'Berths for everybody' }).waitFor();
  await page.getByLabel('E-mail address').fill('katrin@hafnarbakki.example');
  await page.getByLabel('Company or group').fill('Hafnarbakki ehf.');
  await page.getByLabel('You may keep these answers').check();
  await page.getByRole('button', { name: 'Sign up' }).click();
  await page.getByRole('heading', { name: 'Thank you' }).waitFor();
}

async function invite({ page }) {
  await page.evaluate((path) => { location.hash = path; }, `#${BOARD}`);
  await prospect(page, 'katrin').locator('[data-row]').focus();
  await page.keyboard.press('i');
  await confirm(page);
  await page.getByRole('dialog').getByRole('button', { name: t('onboarding.invite') }).click();
  const link = await page.getByTestId('secret').innerText();
  await page.getByRole('button', { name: t('onboarding.invited_done') }).click();
  await page.locator('[data-testid=prospect][data-state=accepted]').waitFor();
  return link;
}

it('a clean start, a published form, a stranger with a real proof, an invitation, and the owner of a company', async () => {
  const operator = await openPerson(browser, server);
  const stranger = await openPerson(browser, server);
  await setUp(operator);
  await publishForm(operator);
  await signUp(stranger);
  const link = await invite(operator);

  await stranger.page.goto(link);
  await stranger.page.locator('input[type=password]').first().fill('a phrase of her own');
  await stranger.page.keyboard.press('Enter');
  await stranger.page.getByRole('navigation', { name: t('app.navigation') }).waitFor();

  const { org, user, role, org_role: power } = await ask(stranger.page, '/api/whoami');
  assert.deepEqual([org.name, user.username, role, power], ['Hafnarbakki ehf.', 'katrin@hafnarbakki.example', 'owner', 'org_owner']);
  // The root address shows strangers the form; her page is still the console after a reload.
  await stranger.page.reload();
  await stranger.page.getByRole('navigation', { name: t('app.navigation') }).waitFor();
  await stranger.close();
  await operator.close();
});
