// The screens of the translations, and an instance whose fifth language is under way.
import { call, join, until } from './world.mjs';

/** The job once it has ended. */
export const jobEnded = (server, token, id) =>
  until(`job ${id} ends`, async () => {
    const job = await call(server, `/api/jobs/${id}`, { token });
    return !['queued', 'running'].includes(job.state) && job;
  });

export const LOCALE = 'de';
const TEXTS = { 'ui.back': 'Zurück', 'ui.cancel': 'Abbrechen', 'ui.close': 'Schließen', 'ui.copy': 'Kopieren' };

export const messageOf = async (server, token, key, locale = LOCALE) =>
  (await call(server, `/api/l10n/messages?locale=${locale}&ns=${key.split('.')[0]}&q=${key}&limit=200`, { token })).items.find((one) => one.key === key);

export async function propose(server, token, key, text, locale = LOCALE) {
  const { id } = await messageOf(server, token, key, locale);
  return call(server, `/api/l10n/messages/${id}`, { token, method: 'PUT', body: { text } });
}

/** A new language without any text; an import is a job, so a worker has to be there. */
export async function addLanguage(server, ada, locale = LOCALE) {
  const { job } = await call(server, '/api/l10n/import', { token: ada, body: { locales: [locale] } });
  return jobEnded(server, ada, job);
}

/** German with drafts in one part, texts to review in another, and one sent back. */
export async function localize(server, ada) {
  await server.say('restart SERVICE_EMBED_WORKER=1');
  const imported = await addLanguage(server, ada);
  const { jobs } = await call(server, '/api/l10n/draft', { token: ada, body: { locale: LOCALE, ns: 'trash' } });
  for (const job of jobs) await jobEnded(server, ada, job);
  await server.say('restart SERVICE_EMBED_WORKER=0');
  const translator = await join(server, ada, 'greta', 'Greta Lindner', 'translator');
  const reviewer = await join(server, ada, 'rolf', 'Rolf Brandt', 'reviewer');
  for (const [key, text] of Object.entries(TEXTS)) await propose(server, translator.token, key, text);
  const { id } = await messageOf(server, reviewer.token, 'ui.back');
  await call(server, `/api/l10n/review/${id}`, { token: reviewer.token, body: { decision: 'approve' } });
  return { translator: translator.token, reviewer: reviewer.token, imported: imported.id };
}

const ROOT = '/settings/instance/translations';

export const localizationScreensOf = ({ localization: { translator, reviewer, imported } }, t) => [
  { name: 'translations', path: ROOT, act: (page) => page.getByTestId('cell').first().waitFor() },
  { name: 'translations-translator', path: ROOT, token: translator, act: (page) => page.getByTestId('cell').first().waitFor() },
  { name: 'translations-report', path: `${ROOT}?job=${imported}`, act: (page) => page.getByRole('region', { name: t('localization.report') }).waitFor() },
  { name: 'translations-import', path: ROOT, act: async (page) => { await page.getByRole('button', { name: t('localization.import') }).click(); await page.getByRole('dialog').getByRole('combobox').selectOption('file'); } },
  { name: 'translations-export', path: ROOT, act: async (page) => { await page.getByTestId('locale').first().getByRole('button').click(); await page.getByRole('menuitem', { name: t('localization.export') }).click(); await page.getByRole('dialog').waitFor(); } },
  { name: 'translations-draft', path: ROOT, act: async (page) => { await page.locator(`[data-locale=${LOCALE}]`).getByRole('button').click(); await page.getByRole('menuitem', { name: t('localization.draft') }).click(); await page.getByTestId('cost').waitFor(); } },
  { name: 'desk', path: `${ROOT}/desk?locale=${LOCALE}&ns=trash&status=missing`, token: translator, act: (page) => page.getByTestId('editor').or(page.getByText(t('localization.no_match_title'))).first().waitFor() },
  { name: 'desk-checks', path: `${ROOT}/desk?locale=${LOCALE}&ns=app&key=app.palette_search`, token: translator, act: async (page) => { await page.getByRole('textbox', { name: t('localization.translation'), exact: true }).fill('Suchen nach {wort}'); await page.locator('[data-code=argument_absent]').waitFor(); } },
  { name: 'desk-none', path: `${ROOT}/desk?locale=${LOCALE}&q=zeppelin`, act: (page) => page.getByText(t('localization.no_match_title')).waitFor() },
  { name: 'pointing', path: '/settings', token: translator, act: async (page) => { await page.keyboard.press('Control+k'); await page.keyboard.type(t('app.point')); await page.getByRole('option', { name: t('app.point'), exact: true }).click(); await page.getByRole('button', { name: t('app.point_leave') }).waitFor(); } },
  { name: 'review', path: `${ROOT}/review?locale=${LOCALE}`, token: reviewer, act: (page) => page.getByTestId('review').waitFor() },
  { name: 'review-send-back', path: `${ROOT}/review?locale=${LOCALE}`, token: reviewer, act: async (page) => { await page.getByRole('button', { name: t('localization.send_back') }).click(); await page.getByLabel(t('localization.comment')).waitFor(); } },
  { name: 'review-none', path: `${ROOT}/review?locale=nl&status=stale`, token: reviewer, act: (page) => page.getByText(t('localization.all_reviewed_title')).waitFor() },
];
