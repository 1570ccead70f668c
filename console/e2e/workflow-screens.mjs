// The screens of workflows, runs and triggers, and a team that has some of each.
import { call, put, until } from './world.mjs';

/** Notes for every berth; the last step reads one of them by an id that is wrong at first. */
export const SHIFT = {
  slug: 'shift-notes',
  title: 'Notes for the shift',
  description: 'Writes a note for every berth, then reads the list back.',
  inputs: { berths: { type: 'array', description: 'Names of berths' }, day: { type: 'string', description: 'The day the notes are about' }, quiet: { type: 'boolean', optional: true } },
  start: 'any',
  max_steps: 40,
  steps: [
    { name: 'any', kind: 'choice', when: { empty: { $: 'input.berths' } }, then: 'nothing', else: 'write' },
    { name: 'write', kind: 'map', over: { $: 'input.berths' }, tool: 'notes_create', with: { title: { $: 'item' }, body: { $: 'input.day' } } },
    { name: 'check', kind: 'tool', tool: 'notes_read', with: { id: 'the-first-one' }, terminal: true },
    { name: 'nothing', kind: 'tool', tool: 'notes_list', with: {}, terminal: true },
  ],
};
export const mended = (spec) => ({ ...spec, steps: spec.steps.map((step) => (step.name === 'check' ? { ...step, tool: 'notes_list', with: { q: { $: 'input.day' } } } : step)) });
const ARRIVALS = {
  slug: 'greet-arrivals',
  title: 'Greet arrivals',
  inputs: { object_id: { type: 'string' }, key: { type: 'string' } },
  start: 'note',
  max_steps: 5,
  steps: [{ name: 'note', kind: 'tool', tool: 'notes_create', with: { title: { $: 'input.key' }, body: 'It has arrived.' } }],
};

export const ended = (server, token, id) =>
  until(`run ${id} ends`, async () => {
    const run = await call(server, `/api/runs/${id}`, { token });
    return run.state !== 'running' && run;
  });

/** Runs that failed, were resumed, and wait; a trigger that fired and one that is off. A worker is there only meanwhile. */
export async function automate(server, ada) {
  await server.say('restart SERVICE_EMBED_WORKER=1');
  const publish = (body) => call(server, '/api/workflows', { token: ada, body });
  const start = (slug, body) => call(server, `/api/workflows/${slug}/run`, { token: ada, body });
  await publish(SHIFT);
  await publish(ARRIVALS);
  const input = { berths: ['Berth 7', 'Berth 9', 'Berth 12'], day: 'Tuesday' };
  const { id: failed } = await start('shift-notes', { input });
  await ended(server, ada, failed);
  await publish(mended(SHIFT));
  const { id: resumed } = await start('shift-notes', { version: 2, resume: { run_id: failed, step: 'check' } });
  await ended(server, ada, resumed);
  const { id: items } = await start('shift-notes', { input: { ...input, berths: ['Berth 7', ''] } });
  await ended(server, ada, items);
  const { id: trigger } = await call(server, '/api/doc-triggers', { token: ada, body: { workflow_slug: 'greet-arrivals', name: 'Manifests', match_prefix: 'arrivals/', match_types: ['text/csv'], input: { key: { $: 'object.key' } } } });
  const { id: file } = await put(server, ada, 'arrivals/hafrun.csv', 'container,temperature\nHAFU 220814,-18\n', 'text/csv', '?visibility=team');
  const { fires } = await call(server, `/api/doc-triggers/${trigger}`, { token: ada });
  await ended(server, ada, fires.items[0].run_id);
  await call(server, '/api/doc-triggers', { token: ada, body: { workflow_slug: 'greet-arrivals', match_types: ['application/pdf'], input: { key: 'A document' }, enabled: false } });
  await server.say('restart SERVICE_EMBED_WORKER=0');
  const { id: waiting } = await start('shift-notes', { input });
  return { failed, resumed, items, waiting, trigger, file, by_trigger: fires.items[0].run_id };
}

const inspector = (page) => page.getByTestId('inspector').waitFor();

export const workflowScreensOf = ({ automation, people }, t) => [
  { name: 'workflows', path: '/workflows', act: (page) => page.getByText('Notes for the shift').waitFor() },
  { name: 'workflow', path: '/workflows/shift-notes', act: (page) => page.getByTestId('version').nth(1).waitFor() },
  { name: 'workflow-compare', path: '/workflows/shift-notes', act: async (page) => { await page.getByRole('button', { name: t('versions.compare_version', { n: 1 }), exact: true }).click(); await page.locator('[data-line=added]').first().waitFor(); } },
  { name: 'workflow-start', path: '/workflows/greet-arrivals/start', act: async (page) => { await page.getByRole('button', { name: t('workflows.choose_file') }).click(); await page.getByRole('button', { name: 'arrivals/' }).waitFor(); } },
  { name: 'workflow-edit', path: '/workflows/shift-notes/edit', act: (page) => page.locator('[data-testid=verdict]:not([data-judging])').waitFor() },
  { name: 'workflow-problems', path: '/workflows/_new', act: async (page) => { await page.locator('.cm-content').fill('{\n  "slug": "Not A Slug",\n  "start": "a",\n  "max_steps": 1,\n  "steps": [\n    { "name": "b", "kind": "tool", "tool": "nothing" }\n  ]\n}'); await page.getByTestId('problem').first().waitFor(); await page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('atrium.draft')).forEach((key) => localStorage.removeItem(key))); } },
  { name: 'workflow-missing', path: '/workflows/nothing-like-it', act: (page) => page.getByText(t('workflows.missing_body')).waitFor() },
  { name: 'runs', path: '/runs', act: (page) => page.getByTestId('run').nth(3).waitFor() },
  { name: 'runs-none', path: '/runs?state=cancelled', act: (page) => page.getByText(t('runs.none_such_body')).waitFor() },
  { name: 'run-failed', path: `/runs/${automation.failed}`, act: inspector },
  { name: 'run-map', path: `/runs/${automation.failed}?step=write`, act: (page) => page.getByTestId('item').first().locator('summary').click() },
  { name: 'run-items-failed', path: `/runs/${automation.items}`, act: inspector },
  { name: 'run-resumed', path: `/runs/${automation.resumed}`, act: inspector },
  { name: 'run-list', path: `/runs/${automation.waiting}?view=list`, act: inspector },
  { name: 'run-cancel', path: `/runs/${automation.waiting}`, act: async (page) => { await page.getByRole('button', { name: t('runs.cancel'), exact: true }).click(); await page.getByRole('dialog').waitFor(); } },
  { name: 'run-resume', path: `/runs/${automation.failed}`, act: async (page) => { await page.getByRole('button', { name: t('runs.resume') }).click(); await page.getByLabel(t('workflows.version')).waitFor(); } },
  { name: 'run-redacted', path: `/runs/${automation.failed}`, token: people[4].token, act: (page) => page.getByText(t('runs.redacted')).waitFor() },
  { name: 'triggers', path: '/triggers', act: (page) => page.getByTestId('trigger').nth(1).waitFor() },
  { name: 'trigger', path: `/triggers/${automation.trigger}`, act: (page) => page.getByTestId('fire').first().waitFor() },
  { name: 'trigger-rehearsed', path: `/triggers/${automation.trigger}/edit`, act: async (page) => { await page.getByRole('button', { name: t('triggers.rehearse') }).click(); await page.getByTestId('rehearsal').waitFor(); } },
  { name: 'trigger-new', path: '/triggers/new' },
  { name: 'trigger-delete', path: `/triggers/${automation.trigger}`, act: async (page) => { await page.getByRole('button', { name: t('triggers.delete'), exact: true }).click(); await page.getByRole('dialog').waitFor(); } },
  { name: 'file-processing', path: `/files/${automation.file}?view=processing`, act: (page) => page.getByTestId('file-run').or(page.getByText(t('files.processing_none'))).first().waitFor() },
];
