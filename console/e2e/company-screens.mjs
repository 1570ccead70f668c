// The screens of companies, usage and branding, and an instance with several of each.
import { PASSWORD, call } from './world.mjs';

const COMPANIES = [['Hafnarbakki ehf.', 'hafnarbakki', 'business', 'sigurdur'], ['Bloemenveiling Westland', 'westland', 'team', 'femke'], ['Conservas Ría', 'conservas-ria', 'free', 'xose']];

/** Limits, one near and one reached, and other companies beside the first. */
export async function settle(server, ada, people) {
  for (const name of ['Finance', 'Terminal Bilbao']) await call(server, '/api/org/teams', { token: ada, body: { name } });
  await call(server, `/api/org/members/${people[0].id}`, { token: ada, method: 'PATCH', body: { org_role: 'org_admin' } });
  const limit = (path, dimension, window, most) => call(server, path, { token: ada, body: { dimension, window, limit: most } });
  const used = async (dimension) => (await call(server, '/api/usage', { token: ada })).items.find((line) => line.level === 'team' && line.dimension === dimension).used;
  // What was read and drafted before, six questions, and one that is left.
  await limit('/api/quota', 'ai.requests', 'month', (await used('ai.requests')) + 7);
  await limit('/api/orgs/northwind-freight/quota', 'ai.requests', 'month', 2000);
  await limit('/api/orgs/northwind-freight/quota', 'storage.bytes', 'total', 100_000_000_000);
  await limit('/api/orgs/northwind-freight/quota', 'ai.concurrency', 'total', 8);
  for (let n = 0; n < 6; n++) await call(server, '/api/ai/echo', { token: ada, body: { prompt: 'How many reefers are due on Tuesday?' } });
  await limit('/api/quota', 'ai.tokens.total', 'month', await used('ai.tokens.total'));
  for (const [name, slug, plan, username] of COMPANIES) await call(server, '/api/orgs', { token: ada, body: { name, slug, plan, owner: { username, password: PASSWORD } } });
  await call(server, '/api/orgs/hafnarbakki', { token: ada, method: 'PATCH', body: { domain: 'blod.hafnarbakki.example' } });
  await call(server, '/api/orgs/westland', { token: ada, method: 'PATCH', body: { domain: 'notities.westland.example', waive_proof: true } });
  await call(server, '/api/orgs/conservas-ria/suspend', { token: ada, method: 'POST' });
}

export const companyScreensOf = (t) => [
  { name: 'usage', path: '/settings/usage' },
  { name: 'company', path: '/settings/company' },
  { name: 'company-people', path: '/settings/company/people' },
  { name: 'company-person-add', path: '/settings/company/people/new' },
  { name: 'company-audit', path: '/settings/company/audit' },
  { name: 'company-branding', path: '/settings/company/branding', act: (page) => page.getByLabel(t('branding.title_field')).fill('Northwind') },
  { name: 'company-branding-blocked', path: '/settings/company/branding', act: async (page) => { await page.getByRole('button', { name: t('branding.mode_light'), exact: true }).first().click(); await page.locator('[data-token=accent] input[type=text]').fill('#9aa5ff'); await page.getByText(t('branding.blocked', { n: 3 })).waitFor(); } },
  { name: 'companies', path: '/settings/instance/companies' },
  { name: 'company-new', path: '/settings/instance/companies/new' },
  { name: 'company-page', path: '/settings/instance/companies/westland' },
  { name: 'company-hostname', path: '/settings/instance/companies/hafnarbakki', act: (page) => page.getByText(t('companies.proof_lead')).scrollIntoViewIfNeeded() },
  { name: 'company-suspend', path: '/settings/instance/companies/westland', act: async (page) => { await page.getByRole('button', { name: t('companies.suspend'), exact: true }).click(); await page.getByRole('dialog').waitFor(); } },
  { name: 'instance-branding', path: '/settings/instance/branding' },
];
