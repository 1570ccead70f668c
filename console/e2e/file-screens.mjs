// The screens of files, and a team that keeps some.
import { call, put } from './world.mjs';

const TIDES = ['# Tides, week 46', '', '| Day | High water | Metres |', '| --- | --- | --- |', '| Monday | 04:12 | 1.9 |', '| Tuesday | 05:01 | 2.1 |', '| Wednesday | 05:48 | 2.2 |', '', 'Draught above 11 m: only on the flood.'];
const FILES = [
  ['ports/rotterdam/berth-7.md', '# Berth 7\n\n- [x] Pilot\n- [ ] Reefer plugs', 'text/markdown'],
  ['ports/rotterdam/manifest-hafrun.csv', 'container,temperature,for\nHAFU 220814,-18,Ísfélagið\nHAFU 220977,2,Bloemenveiling\n', 'text/csv'],
  ['ports/bilbao/terminal.txt', 'Gate B opens at nine.', 'text/plain'],
  ['rates/2026/q4-first-draft.json', '{"fuel": 0.14}', 'application/json'],
  ['fog-protocol.txt', '1. Tug first.\n2. Then the pilot.\n3. Then breakfast.\n', 'text/plain'],
  ['yard-plan.zip', 'PK\u0003\u0004 not really', 'application/zip'],
];
const DOCUMENTS = [
  ['Handbook for the night shift', '# Before the shift\n\nRead the **watch list**. Check who is on call:\n\n1. Marta until midnight\n2. Jeroen after\n\n# During the shift\n\n- Fog: the tug goes first.\n- Reefers: look at the temperature *every hour*.\n', 'team'],
  ['Contract with the pilots, draft', 'Still without prices.', 'private'],
];
// One page that says one word; viewers mend the missing table of contents by themselves.
const PDF = '%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj\n4 0 obj<</Length 44>>stream\nBT /F1 24 Tf 60 100 Td (Bill of lading) Tj ET\nendstream endobj\ntrailer<</Root 1 0 R>>\n%%EOF';

/** Folders, a text in three versions, one shared with everybody one can share with, and one shared by a colleague. */
export async function stock(server, ada, people) {
  for (const [key, body, type] of FILES) await put(server, ada, key, body, type, '?visibility=team');
  const pdf = await put(server, ada, 'bill-of-lading.pdf', PDF, 'application/pdf');
  let tides;
  for (const lines of [TIDES.slice(0, 6), TIDES, TIDES.map((line) => line.replace('2.2', '2.4'))]) tides = await put(server, ada, 'tides.md', `${lines.join('\n')}\n`, 'text/markdown');
  const { teams, org } = await call(server, '/api/share-targets', { token: ada });
  const share = (principal_type, principal_id, capability, days) => call(server, `/api/repo-obj/${tides.id}/share`, { token: ada, body: { principal_type, principal_id, capability, expires_at: days ? new Date(Date.now() + days * 86_400_000).toISOString() : null } });
  await share('user', people[1].id, 'edit', 30);
  await share('team', teams.find((team) => team.name === 'Finance').principal_id, 'view', null);
  await share('org', org.principal_id, 'view', 7);
  const theirs = await put(server, people[2].token, 'akureyri/forklifts.txt', 'Two sets of tyres, the third on Friday.', 'text/plain');
  await call(server, `/api/repo-obj/${theirs.id}/share`, { token: people[2].token, body: { user_id: (await call(server, '/api/whoami', { token: ada })).user.id } });
  const documents = [];
  for (const [title, body, visibility] of DOCUMENTS) documents.push(await call(server, '/api/documents', { token: ada, body: { title, body, visibility } }));
  for (const [name, scope] of [['Nightly backup', ['files:read']], ['Laptop', null]]) await call(server, '/api/s3/credentials', { token: ada, body: { name, scope } });
  return { tides: tides.id, pdf: pdf.id, document: documents[0].id };
}

const versions = (t) => (page) => page.getByTestId('version').nth(2).waitFor({ state: 'visible' }).then(() => page.getByRole('button', { name: t('versions.compare_version', { n: 1 }), exact: true }).waitFor());
const sharing = (t) => (page) => page.getByRole('dialog').getByTestId('grant').nth(2).waitFor().then(() => page.getByLabel(t('files.share_whom')).waitFor());

/** The browser's own viewer has drawn the document. */
async function drawn(page) {
  // A browser without a window has no viewer: there the frame stays empty.
  if (!(await page.evaluate(() => navigator.pdfViewerEnabled))) return;
  const frame = await (await page.locator('iframe').elementHandle()).contentFrame();
  await frame.waitForLoadState();
}

export const fileScreensOf = ({ files }, t) => [
  { name: 'files', path: '/files' },
  { name: 'files-folder', path: '/files?at=ports/rotterdam/' },
  { name: 'files-empty', path: '/files?at=nothing/here/' },
  { name: 'files-none-found', path: '/files?q=zzz' },
  {
    name: 'files-uploading',
    path: '/files?at=ports/',
    act: async (page) => {
      await page.route('**/api/repo/ports/**', (route) => (route.request().url().includes('lost') ? route.abort('connectionreset') : undefined));
      await page.getByTestId('picker').first().setInputFiles(['quay-walls.mp4', 'lost-containers.xlsx', 'crane.jpg'].map((name) => ({ name, mimeType: 'application/octet-stream', buffer: Buffer.alloc(400_000) })));
      await page.locator('[data-testid=upload][data-state=waiting]').waitFor();
    },
  },
  { name: 'files-new-folder', path: '/files', act: async (page) => { await page.getByRole('button', { name: t('files.new_folder') }).click(); await page.getByRole('dialog').waitFor(); } },
  { name: 'file', path: `/files/${files.tides}`, act: (page) => page.locator('.prose table').waitFor() },
  { name: 'file-pdf', path: `/files/${files.pdf}`, act: drawn },
  { name: 'file-versions', path: `/files/${files.tides}?view=versions`, act: versions(t) },
  { name: 'file-compare', path: `/files/${files.tides}?view=versions`, act: async (page) => { await page.getByRole('button', { name: t('versions.compare_version', { n: 1 }), exact: true }).click(); await page.locator('[data-line=added]').first().waitFor(); } },
  { name: 'file-text', path: `/files/${files.tides}?view=text` },
  { name: 'file-processing-none', path: `/files/${files.tides}?view=processing`, act: (page) => page.getByText(t('files.processing_none_body')).waitFor() },
  { name: 'file-share', path: `/files/${files.tides}?share=true`, act: sharing(t) },
  {
    name: 'file-why',
    path: `/files/${files.tides}?share=true`,
    act: async (page) => {
      await sharing(t)(page);
      await page.getByText(t('files.why')).click();
      await page.getByLabel(t('files.why_who')).selectOption({ label: 'Jeroen de Wit' });
      await page.getByTestId('why').scrollIntoViewIfNeeded();
    },
  },
  { name: 'shared', path: '/shared' },
  { name: 's3-keys', path: '/settings/s3-keys' },
  { name: 'documents', path: '/documents' },
  { name: 'document-write', path: `/documents/${files.document}`, act: (page) => page.locator('.cm-content').waitFor() },
  { name: 'document-preview', path: `/documents/${files.document}`, act: async (page) => { await page.getByRole('button', { name: t('documents.preview') }).click(); await page.locator('.prose h2').first().waitFor(); } },
];
