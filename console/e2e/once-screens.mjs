// Dialogs that show something once. Every visit makes one more of what they show.
import { forSomebody } from './person-menu.mjs';
import { BOARD, prospect, signUp } from './onboarding-screens.mjs';
import { confirm, PASSWORD, totp } from './world.mjs';

let made = 0;
const fresh = (name) => `${name}${made++ || ''}`;
const issued = (page) => page.getByTestId('secret').first().waitFor();

/** Two-factor switched on by hand, from off, whatever an earlier visit left. */
const enrol = (t) => async (page) => {
  await page.evaluate((password) => fetch('/api/2fa', { method: 'DELETE', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ password }) }), PASSWORD);
  await page.reload();
  await page.getByRole('button', { name: t('account.turn_on') }).click();
  await confirm(page);
  await page.getByRole('button', { name: t('ui.continue') }).click();
  await page.getByRole('img', { name: t('account.qr') }).waitFor();
};

/** Somebody joins and leaves again. */
const leave = (t) => async (page) => {
  const username = fresh('bram');
  await page.evaluate((body) => fetch('/api/members', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }), { username, role: 'member', password: PASSWORD });
  await page.reload();
  await forSomebody(t, 'members.remove', username)(page);
  await page.getByRole('button', { name: t('members.remove_name', { name: username }) }).click();
  await page.getByTestId('left').first().waitFor();
};

/** A stranger who is invited at once. */
const invite = (t) => async (page) => {
  const name = fresh('runa');
  await signUp({ address: new URL(page.url()).origin }, { email: `${name}@example.com` });
  await page.reload();
  await prospect(page, `${name}@`).locator('[data-row]').focus();
  await page.keyboard.press('i');
  await page.getByLabel(t('onboarding.company')).fill(name);
  await confirm(page);
  await page.getByRole('dialog').getByRole('button', { name: t('onboarding.invite') }).click();
  await issued(page);
};

export const onceScreensOf = (team, t) => [
  { name: 'member-reset', path: '/settings/members', act: forSomebody(t, 'members.reset') },
  { name: 'member-left', path: '/settings/members', act: leave(t) },
  { name: 'member-reset-made', path: '/settings/members', act: async (page) => { await forSomebody(t, 'members.reset')(page); await confirm(page); await page.getByRole('button', { name: t('members.reset_make') }).click(); await issued(page); } },
  { name: 'token-issued', path: '/settings/tokens/new', act: async (page) => { await page.getByLabel(t('tokens.name')).fill('Weighbridge'); await confirm(page); await page.getByRole('button', { name: t('tokens.create') }).click(); await issued(page); } },
  { name: 's3-key-issued', path: '/settings/s3-keys/new', act: async (page) => { await page.getByLabel(t('s3.name')).fill('Scanner'); await confirm(page); await page.getByRole('button', { name: t('s3.create') }).click(); await issued(page); } },
  { name: 'executor-issued', path: '/settings/executors/new', act: async (page) => { await page.getByLabel(t('executors.name'), { exact: true }).fill(fresh('weighbridge')); await confirm(page); await page.getByRole('button', { name: t('executors.create') }).click(); await issued(page); } },
  { name: 'member-added', path: '/settings/members/new', act: async (page) => { await page.getByLabel(t('members.username')).fill(fresh('grace')); await confirm(page); await page.getByRole('dialog').getByRole('button', { name: t('nav.add_member') }).click(); await issued(page); } },
  { name: 'company-person-added', path: '/settings/company/people/new', act: async (page) => { await page.getByLabel(t('members.username')).fill(fresh('olafur')); await confirm(page); await page.getByRole('dialog').getByRole('button', { name: t('nav.add_person') }).click(); await issued(page); } },
  {
    name: 'company-founded',
    path: '/settings/instance/companies/new',
    act: async (page) => {
      await page.getByLabel(t('companies.name')).fill(fresh('Almacenes Sur '));
      await page.getByLabel(t('companies.owner')).fill(fresh('lucia'));
      await confirm(page);
      await page.getByRole('button', { name: t('companies.create'), exact: true }).click();
      await issued(page);
    },
  },
  { name: 'sign-up-invited', path: BOARD, act: invite(t) },
  { name: 'two-factor-scan', path: '/settings/security', token: team.marta, act: enrol(t) },
  { name: 'two-factor-codes', path: '/settings/security', token: team.marta, act: async (page) => { await enrol(t)(page); await page.getByLabel(t('account.first_code')).fill(totp(await page.getByTestId('totp-secret').innerText())); await page.getByRole('dialog').getByRole('button', { name: t('ui.continue') }).click(); await page.getByTestId('recovery-code').first().waitFor(); } },
];
