// Jobs and executors: queued, watched, cancelled; machines put into service by the command the screen shows, and retired.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as pathOf } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { call, closeAll, confirm, found, join, openBrowser, openPerson, openServer } from './world.mjs';
import { COUNT, REPORT } from './job-screens.mjs';
import { LOCALES, wordsOf } from './words.mjs';

const t = wordsOf('en');
const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const python = process.env.PYTHON ?? at('../../.venv/bin/python');
let browser, home;
before(async () => {
  browser = await openBrowser();
  home = mkdtempSync(pathOf(tmpdir(), 'atrium-worker-'));
  const program = (name, text) => { writeFileSync(pathOf(home, name), `#!/bin/sh\n${text}\n`); chmodSync(pathOf(home, name), 0o755); };
  // The worker's package comes from this repository; nothing is installed.
  program('pip', 'exit 0');
  program('atrium-worker', `PYTHONPATH=${at('../../worker/src')} exec ${python} -m atrium_worker "$@"`);
});
after(async () => {
  rmSync(home, { recursive: true, force: true });
  await closeAll();
});

const button = (page, name) => page.getByRole('button', { name, exact: true });
const news = (page, text) => page.getByTestId('toast').getByText(text).waitFor();
const inState = (page, state) => page.locator(`[data-testid=job-state][data-state=${state}]`).waitFor();
const enqueue = (server, token, kind, input, more = {}) => call(server, '/api/jobs', { token, body: { kind, input, ...more } });

/** What the screen says, typed into a shell; ended by its id, with everything it started. */
function shell(command) {
  const worker = spawn('sh', ['-ec', command], { cwd: home, detached: true, stdio: 'ignore', env: { ...process.env, PATH: `${home}:${process.env.PATH}` } });
  return { stop: () => new Promise((resolve) => { worker.once('exit', resolve); process.kill(-worker.pid, 'SIGTERM'); }) };
}

describe('a job', () => {
  for (const locale of LOCALES) {
    it(`is tried from nothing, runs and keeps its result in ${locale}`, async () => {
      const words = wordsOf(locale);
      const server = await openServer({ SERVICE_EMBED_WORKER: '1' });
      const ada = await found(server);
      await call(server, '/api/profile', { token: ada, body: { locale } });
      const person = await openPerson(browser, server, { locale, token: ada });
      const { page } = person;
      await person.go('/jobs');
      await page.getByText(words('jobs.none_title')).waitFor();
      await page.getByRole('link', { name: words('nav.try_job') }).first().click();
      await page.getByLabel(words('jobs.try_text')).fill('to be or not to be');
      await button(page, words('jobs.queue_it')).click();
      await inState(page, 'succeeded');

      const result = JSON.parse(await page.getByRole('region', { name: words('jobs.result') }).locator('pre').innerText());
      assert.equal(result.words, 6);
      await page.getByRole('link', { name: words('nav.jobs') }).last().click();
      await page.locator('[data-testid=job][data-state=succeeded]', { hasText: COUNT }).waitFor();
      await person.close();
      await server.close();
    });
  }

  it('that waits says why, appears by itself, and can be cancelled', async () => {
    const server = await openServer();
    const ada = await found(server);
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/jobs?state=queued');
    await page.getByText(t('jobs.none_of_state_body')).waitFor();
    await enqueue(server, ada, COUNT, { text: 'nobody counts' });
    await enqueue(server, ada, COUNT, { text: 'later' }, { run_at: new Date(Date.now() + 7_200_000).toISOString() });
    await page.getByTestId('job').filter({ hasText: t('jobs.waits_no_worker') }).waitFor();
    await page.getByTestId('job').filter({ hasText: t('jobs.waits_scheduled', { when: t('time.in_hour', { n: 2 }) }) }).waitFor();
    await page.getByTestId('queue-now').first().getByText('1', { exact: true }).waitFor();

    await page.getByTestId('job').filter({ hasText: t('jobs.waits_no_worker') }).getByRole('button', { name: t('jobs.cancel_name', { name: COUNT }) }).click();
    await page.getByRole('dialog').getByRole('button', { name: t('jobs.cancel'), exact: true }).click();
    await news(page, t('jobs.cancelled'));
    await page.waitForFunction(() => document.querySelectorAll('[data-testid=job]').length === 1);
    await button(page, t('jobs.state_cancelled')).click();
    await page.locator('[data-testid=job][data-state=cancelled]').waitFor();
    await person.close();
    await server.close();
  });

  it('of a colleague shows how it stands, but neither its content nor a way to end it', async () => {
    const server = await openServer();
    const ada = await found(server);
    const tom = await join(server, ada, 'tom', 'Tom Becker');
    const { id } = await enqueue(server, ada, COUNT, { text: 'a secret of Ada’s' });
    const person = await openPerson(browser, server, { token: tom.token });
    await person.go(`/jobs/${id}`);
    await person.page.getByText(t('jobs.not_yours')).waitFor();

    assert.equal(await button(person.page, t('jobs.cancel')).count(), 0);
    assert.ok(!(await person.page.content()).includes('a secret of Ada’s'));
    await person.close();
    await server.close();
  });
});

describe('an executor', () => {
  it('starts with the command the screen shows, does a job, and is retired', async () => {
    const server = await openServer();
    const ada = await found(server);
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/settings/executors');
    await page.getByText(t('executors.none_title')).waitFor();
    await page.getByRole('link', { name: t('nav.new_executor') }).first().click();
    await button(page, t('executors.create')).click();
    await page.getByText(t('executors.name_problem')).waitFor();
    await page.getByLabel(t('executors.name'), { exact: true }).fill('reports');
    await page.getByLabel(t('executors.kinds')).fill(REPORT);
    await confirm(page);
    await button(page, t('executors.create')).click();
    const token = await page.getByTestId('secret').innerText();
    const worker = shell(await page.getByTestId('command').innerText());
    await button(page, t('executors.kept')).click();
    assert.ok(!(await page.content()).includes(token), 'the token is still on the page');

    const { id } = await enqueue(server, ada, REPORT, { lane: 'ROT-SIN' });
    await page.getByTestId('executor').filter({ hasText: 'reports' }).getByText(t('executors.healthy')).waitFor();
    await person.go(`/jobs/${id}`);
    await inState(page, 'succeeded');
    await page.getByText('"shipments": 3').waitFor();

    await person.go('/settings/executors');
    await button(page, t('executors.retire_name', { name: 'reports' })).click();
    await page.getByRole('dialog').getByRole('button', { name: t('executors.retire'), exact: true }).click();
    await news(page, t('executors.retired', { name: 'reports' }));
    await page.getByTestId('executor').filter({ hasText: 'reports' }).waitFor({ state: 'detached' });
    const refused = await fetch(`${server.address}/api/workers/claim`, { method: 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' }, body: JSON.stringify({ kinds: [REPORT] }) });
    assert.equal(refused.status, 401);
    await worker.stop().catch(() => undefined);
    await person.close();
    await server.close();
  });

  it('that is called has an address; one inside the network is refused in words', async () => {
    const server = await openServer();
    const ada = await found(server);
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/settings/executors/new');
    await page.getByLabel(t('executors.name'), { exact: true }).fill('gpu-1');
    await page.getByText(t('executors.mode_push'), { exact: true }).click();
    await page.getByLabel(t('executors.url'), { exact: true }).fill('http://127.0.0.1:9/v1');
    await page.getByLabel(t('executors.reach')).selectOption('everybody');
    await confirm(page);
    await button(page, t('executors.create')).click();
    await page.getByText(t('errors.executors_invalid')).waitFor();
    await page.getByLabel(t('executors.url'), { exact: true }).fill('https://203.0.114.7/v1');
    await page.locator('input[name=key]').fill('sk-secret');
    await button(page, t('executors.create')).click();
    await news(page, t('executors.created', { name: 'gpu-1' }));

    await person.go('/settings/models');
    await page.getByLabel(t('executors.role_utility')).selectOption('gpu-1');
    await news(page, t('executors.role_set'));
    assert.equal((await call(server, '/api/model-roles', { token: ada })).roles.utility, 'gpu-1');
    await page.getByLabel(t('executors.role_utility')).selectOption('');
    await page.waitForFunction(() => document.querySelector('select:disabled') === null);
    assert.equal((await call(server, '/api/model-roles', { token: ada })).roles.utility, null);
    await person.close();
    await server.close();
  });

  it('of the company is made by its admins, bound to it, and theirs to retire', async () => {
    const server = await openServer();
    const ada = await found(server);
    const marta = await join(server, ada, 'marta', 'Marta Vidal');
    await call(server, `/api/org/members/${marta.id}`, { token: ada, method: 'PATCH', body: { org_role: 'org_admin' } });
    const person = await openPerson(browser, server, { token: marta.token });
    const { page } = person;
    await person.go('/settings/executors/new');
    assert.deepEqual(await page.getByLabel(t('executors.reach')).locator('option').allInnerTexts(), [t('executors.reach_company')]);
    await page.getByLabel(t('executors.name'), { exact: true }).fill('bilbao');
    await confirm(page);
    await button(page, t('executors.create')).click();
    await button(page, t('executors.kept')).click();
    await page.getByTestId('executor').filter({ hasText: 'bilbao' }).getByText(t('executors.company_only')).waitFor();

    await button(page, t('executors.retire_name', { name: 'bilbao' })).click();
    await page.getByRole('dialog').getByRole('button', { name: t('executors.retire'), exact: true }).click();
    await news(page, t('executors.retired', { name: 'bilbao' }));
    await person.close();
    await server.close();
  });
});
