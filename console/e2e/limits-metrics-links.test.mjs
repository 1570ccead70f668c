// Three screens of the daily work of operators and members: a team's limits, the server's metrics, a link to a file that expires.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { examineBoth } from './axe.mjs';
import { ask, call, closeAll, confirm, found, join, openBrowser, openPerson, openServer, put } from './world.mjs';
import { wordsOf } from './words.mjs';

const t = wordsOf('en');
let browser, server, ada;

before(async () => {
  [browser, server] = await Promise.all([openBrowser(), openServer()]);
  ada = await found(server);
});

after(closeAll);

const button = (page, name) => page.getByRole('button', { name, exact: true });

describe('a team’s limits', () => {
  it('are set by an operator and hold from then on', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/settings/usage');

    await page.getByLabel(t('companies.dimension')).selectOption('ai.requests');
    await page.getByLabel(t('companies.window'), { exact: true }).selectOption('month');
    await page.getByLabel(t('companies.most')).fill('plenty');
    await button(page, t('companies.set_limit')).click();
    await page.getByText(t('companies.most_hint')).waitFor();
    await page.getByLabel(t('companies.most')).fill('1');
    await button(page, t('companies.set_limit')).click();
    await page.getByTestId('toast').getByText(t('companies.limit_set')).waitFor();
    await page.getByRole('region', { name: t('usage.ai_requests') }).getByText(t('usage.of', { n: '0', limit: '1' })).first().waitFor();
    const { items } = await ask(page, '/api/usage');
    assert.equal(items.find((line) => line.level === 'team' && line.dimension === 'ai.requests' && line.window === 'month').limit, 1);
    await call(server, '/api/ai/echo', { token: ada, body: { prompt: 'hello' } });

    await assert.rejects(call(server, '/api/ai/echo', { token: ada, body: { prompt: 'hello again' } }), /quotas\.exceeded/);
    await person.close();
  });

  it('P9: are lifted where they stand, with a way back, and work at once', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    const named = { name: t('usage.ai_requests'), window: t('usage.window_month') };
    await person.go('/settings/usage');

    await button(page, t('usage.lift_of', named)).click();
    await page.getByTestId('toast').getByText(t('usage.lifted', named)).waitFor();
    await call(server, '/api/ai/echo', { token: ada, body: { prompt: 'hello' } });
    await page.getByTestId('toast').getByRole('button', { name: t('ui.undo') }).click();
    await button(page, t('usage.change_of', named)).click();
    await page.getByLabel(t('usage.most_of', named)).fill('0');
    await button(page, t('usage.save')).click();
    await page.getByTestId('toast').getByText(t('usage.changed', named)).last().waitFor();

    await assert.rejects(call(server, '/api/ai/echo', { token: ada, body: { prompt: 'hello' } }), /quotas\.exceeded/);
    await examineBoth(page, 'limits');
    await person.close();
  });

  it('P9: are told to a member whom they refuse', async () => {
    const { token } = await join(server, ada, 'ben', 'Ben Member');
    const person = await openPerson(browser, server, { token });
    const { page } = person;
    await person.go('/translate');

    await page.getByLabel(t('translate.text'), { exact: true }).fill('The tide turns at noon.');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('alert').getByText(t('errors.limit_ask', { n: 1, one: 'Ada Lovelace', two: '', three: '' })).waitFor();
    await page.getByRole('link', { name: t('errors.limit_see') }).click();
    await page.getByText(t('usage.whom')).waitFor();
    await person.close();
  });

  it('are not for members to set', async () => {
    const { token } = await join(server, ada, 'mia', 'Mia Member');
    const person = await openPerson(browser, server, { token });
    await person.go('/settings/usage');

    assert.equal(await button(person.page, t('companies.set_limit')).count(), 0);
    await person.close();
  });
});

describe('metrics', () => {
  it('are shown on request and filtered by name', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/settings/instance');

    await button(page, t('instance.metrics_show')).click();
    const rows = page.getByRole('region', { name: t('instance.metrics') }).locator('tbody tr');
    await rows.first().waitFor();
    const all = await rows.count();
    const [name] = (await rows.last().getByRole('cell').first().innerText()).split('{');
    await page.getByRole('searchbox', { name: t('instance.metrics_search') }).fill(name);
    await page.waitForFunction((before) => document.querySelectorAll('tbody tr').length < before, all);
    for (const shown of await rows.allInnerTexts()) assert.ok(shown.includes(name), shown);
    await examineBoth(page, 'metrics');
    await person.close();
  });
});

describe('the checkup', () => {
  it('names each thing the server depends on, and what to do where it is not well', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/settings/instance');

    await button(page, t('instance.checkup_run')).click();
    const region = page.getByRole('region', { name: t('instance.checkup') });
    const line = (name) => region.getByRole('listitem').filter({ hasText: t(`instance.check_${name}`) });
    await line('walls').waitFor();

    assert.ok((await region.getByRole('listitem').count()) >= 12);
    assert.match(await line('walls').innerText(), new RegExp(t('instance.check_verdict_ok')));
    assert.match(await line('models').innerText(), /SERVICE_LOCAL_MODEL_URL/);
    await examineBoth(page, 'checkup');
    await person.close();
  });
});

describe('an expiring link', () => {
  it('opens the file without an account', async () => {
    const { id } = await put(server, ada, 'ports/tides.txt', 'High water at four.');
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go(`/files/${id}`);

    await button(page, t('files.link')).click();
    const dialog = page.getByRole('dialog', { name: t('files.link_title', { name: 'tides.txt' }) });
    await dialog.getByLabel(t('files.link_life')).selectOption('hour');
    await confirm(page);
    await examineBoth(page, 'link');
    await button(dialog, t('files.link_create')).click();
    await dialog.getByText(t('errors.s3_no_key')).waitFor();
    await call(server, '/api/s3/credentials', { token: ada, body: { name: 'Links' } });
    await button(dialog, t('files.link_create')).click();
    const url = await dialog.getByTestId('secret').innerText();
    await examineBoth(page, 'link made');
    const answer = await fetch(url);
    assert.equal(await answer.text(), 'High water at four.');
    assert.equal(new URL(url).searchParams.get('X-Amz-Expires'), '3600');
    assert.equal((await fetch(url.replace('X-Amz-Expires=3600', 'X-Amz-Expires=7200'))).status, 403);

    await button(dialog, t('ui.done')).click();
    await dialog.waitFor({ state: 'detached' });
    await person.close();
  });
});
