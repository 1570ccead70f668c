// The first day of a company, in every language: founded, taken over, peopled, branded, limited, suspended, resumed.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { call, closeAll, confirm, found, openBrowser, openPerson, openServer, PASSWORD } from './world.mjs';
import { LOCALES, wordsOf } from './words.mjs';

let browser;
before(async () => { browser = await openBrowser(); });
after(closeAll);

const button = (page, name) => page.getByRole('button', { name, exact: true });
const news = (page, text) => page.getByTestId('toast').getByText(text).waitFor();
const speaks = (page, locale) => page.waitForFunction((wanted) => document.documentElement.lang === wanted, locale);

async function foundCompany(operator, t) {
  const { page } = operator;
  await operator.go('/settings/instance/companies');
  await page.getByRole('heading', { name: t('nav.companies'), level: 1 }).waitFor();
  await page.getByRole('link', { name: t('nav.new_company') }).click();
  await page.getByLabel(t('companies.name')).fill('Hafnarbakki ehf.');
  await page.getByLabel(t('companies.owner')).fill('sigurdur');
  await confirm(page);
  await button(page, t('companies.create')).click();
  const link = await page.getByTestId('secret').first().innerText();
  await button(page, t('members.passed_on')).click();
  await page.getByRole('heading', { name: 'Hafnarbakki ehf.' }).waitFor();
  return link;
}

async function takeOver({ page }, t, link) {
  await page.goto(link);
  await page.getByLabel(t('signin.new_password')).fill(PASSWORD);
  await button(page, t('signin.set_password')).click();
  await page.getByRole('heading', { name: t('home.recent') }).waitFor();
}

async function addTeamAndPerson(owner, t) {
  const { page } = owner;
  await owner.go('/settings/company/teams/new');
  await page.getByLabel(t('company.team_name')).fill('Finance');
  await button(page, t('company.create_team')).click();
  await news(page, t('company.team_made', { name: 'Finance' }));
  await owner.go('/settings/company/people/new');
  await page.getByLabel(t('members.username')).fill('grace');
  await page.getByLabel(t('company.team'), { exact: true }).selectOption({ label: 'Finance' });
  await page.getByLabel(t('company.role')).selectOption('org_reader');
  await confirm(page);
  await page.getByRole('dialog').getByRole('button', { name: t('nav.add_person') }).click();
  await page.getByTestId('secret').first().waitFor();
  await button(page, t('members.passed_on')).click();
  const role = page.locator('[data-row]', { hasText: 'grace' }).getByRole('combobox');
  assert.equal(await role.locator('option:checked').innerText(), t('members.org_reader'));
}

async function brand(owner, t) {
  const { page } = owner;
  await owner.go('/settings/company/branding');
  await page.getByText(t('branding.from_instance')).waitFor();
  await page.getByLabel(t('branding.title_field')).fill('Bakkinn');
  await page.locator('[data-token=accent] input[type=text]').fill('#9aa5ff');
  await page.getByText(t('branding.blocked', { n: 3 })).waitFor();
  assert.ok(await button(page, t('ui.save')).isDisabled(), 'a look nobody can read may be saved');
  await page.locator('[data-passes=false]').first().getByRole('button').click();
  await page.getByTestId('contrast-count').getByText(t('branding.passed', { passed: 86, all: 86 })).waitFor();
  await button(page, t('ui.save')).click();
  await news(page, t('branding.saved'));
  await page.waitForFunction(() => document.title.endsWith('Bakkinn'));
}

async function limit({ page }, t) {
  await page.getByLabel(t('companies.dimension')).selectOption('ai.requests');
  await page.getByLabel(t('companies.window'), { exact: true }).selectOption('month');
  await page.getByLabel(t('companies.most')).fill('5');
  await button(page, t('companies.set_limit')).click();
  await news(page, t('companies.limit_set'));
  await page.locator('[role=meter][aria-valuemax="5"]').waitFor();
}

/** Four of five used: amber, in words too. */
async function nearTheLimit(owner, t) {
  await owner.page.evaluate(async () => { for (let n = 0; n < 4; n++) await fetch('/api/ai/echo', { method: 'POST', body: '{}' }); });
  await owner.page.goto('about:blank');
  await owner.go('/settings/usage');
  const meter = owner.page.getByRole('region', { name: t('usage.ai_requests'), exact: true }).locator('[data-testid=meter][data-fullness=near]');
  await meter.getByText(t('usage.left', { n: '1' })).waitFor();
  await owner.page.getByText(t('usage.some_near', { n: 1 })).waitFor();
}

async function suspend({ page }, t) {
  await button(page, t('companies.suspend')).click();
  await page.getByRole('dialog').getByRole('textbox').fill('Hafnarbakki ehf.');
  await page.getByRole('dialog').getByRole('button', { name: t('companies.suspend'), exact: true }).click();
  await page.getByRole('heading', { name: t('companies.resume_title') }).waitFor();
}

describe('the first day of a company', () => {
  for (const locale of LOCALES) {
    it(`works in ${locale}`, async () => {
      const t = wordsOf(locale);
      const server = await openServer();
      const ada = await found(server);
      await call(server, '/api/profile', { token: ada, body: { locale } });
      const operator = await openPerson(browser, server, { locale, token: ada });
      const owner = await openPerson(browser, server, { locale });

      const link = await foundCompany(operator, t);
      await takeOver(owner, t, link);
      await speaks(owner.page, locale);
      await addTeamAndPerson(owner, t);
      await brand(owner, t);
      await limit(operator, t);
      await nearTheLimit(owner, t);
      await suspend(operator, t);
      await owner.page.reload();
      await owner.page.getByText(t('app.read_only')).waitFor();
      await button(operator.page, t('companies.resume')).click();
      await news(operator.page, t('companies.resumed', { name: 'Hafnarbakki ehf.' }));
      await owner.page.reload();
      await owner.settled();

      assert.equal(await owner.page.getByText(t('app.read_only')).count(), 0);
      await operator.close();
      await owner.close();
      await server.close();
    });

    it(`begins with the host’s link in ${locale}`, async () => {
      const t = wordsOf(locale);
      const hosted = await openServer({ SERVICE_HOSTED: '1', SERVICE_PROVISION_TOKEN: 'a provisioning token for the test' });
      const { activation_url: link } = await call(hosted, '/api/provision', { token: 'a provisioning token for the test', body: { username: 'ada', org: 'Northwind' } });
      const [owner, late] = [await openPerson(browser, hosted, { locale }), await openPerson(browser, hosted, { locale })];

      await takeOver(owner, t, link);
      await late.page.goto(link);
      await late.page.getByLabel(t('signin.new_password')).fill(PASSWORD);
      await button(late.page, t('signin.set_password')).click();

      await late.page.getByText(t('errors.hosting_activation_refused')).waitFor();
      assert.ok(!late.page.url().includes('token'), 'the token stays in the address bar');
      await owner.close();
      await late.close();
      await hosted.close();
    });
  }
});
