// Dialogs that show something once. Every visit makes one more of what they show.
import { PASSWORD } from './world.mjs';

let made = 0;
const fresh = (name) => `${name}${made++ || ''}`;
const issued = (page) => page.getByTestId('secret').first().waitFor();

/** Two-factor switched on by hand, from off, whatever an earlier visit left. */
const enrol = (t) => async (page) => {
  await page.evaluate(() => fetch('/api/2fa', { method: 'DELETE', headers: { authorization: `Bearer ${localStorage.getItem('atrium.session')}` } }));
  await page.reload();
  await page.getByRole('button', { name: t('account.turn_on') }).click();
  await page.getByRole('dialog').getByLabel(t('account.current_password')).fill(PASSWORD);
  await page.getByRole('button', { name: t('ui.continue') }).click();
  await page.getByRole('img', { name: t('account.qr') }).waitFor();
};

export const onceScreensOf = (team, t) => [
  { name: 'token-issued', path: '/tokens/new', act: async (page) => { await page.getByLabel(t('tokens.name')).fill('Weighbridge'); await page.getByRole('button', { name: t('tokens.create') }).click(); await issued(page); } },
  { name: 's3-key-issued', path: '/s3-keys/new', act: async (page) => { await page.getByLabel(t('s3.name')).fill('Scanner'); await page.getByRole('button', { name: t('s3.create') }).click(); await issued(page); } },
  { name: 'executor-issued', path: '/executors/new', act: async (page) => { await page.getByLabel(t('executors.name'), { exact: true }).fill(fresh('weighbridge')); await page.getByRole('button', { name: t('executors.create') }).click(); await issued(page); } },
  { name: 'member-added', path: '/members/new', act: async (page) => { await page.getByLabel(t('members.username')).fill(fresh('grace')); await page.getByRole('dialog').getByRole('button', { name: t('members.add') }).click(); await issued(page); } },
  { name: 'company-person-added', path: '/company/people/new', act: async (page) => { await page.getByLabel(t('members.username')).fill(fresh('olafur')); await page.getByRole('dialog').getByRole('button', { name: t('company.add_person') }).click(); await issued(page); } },
  {
    name: 'company-founded',
    path: '/instance/companies/new',
    act: async (page) => {
      await page.getByLabel(t('companies.name')).fill(fresh('Almacenes Sur '));
      await page.getByLabel(t('companies.owner')).fill(fresh('lucia'));
      await page.getByRole('button', { name: t('companies.create'), exact: true }).click();
      await issued(page);
    },
  },
  { name: 'two-factor-scan', path: '/account/security', token: team.people[4].token, act: enrol(t) },
  { name: 'two-factor-codes', path: '/account/security', token: team.people[4].token, act: async (page) => { await enrol(t)(page); await page.getByRole('button', { name: t('account.scanned') }).click(); await page.getByTestId('recovery-code').first().waitFor(); } },
];
