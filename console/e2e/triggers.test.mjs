// Triggers: rehearsed, made, fired by an upload, and asked why they did not fire.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { examineBoth } from './axe.mjs';
import { LOCALES, wordsOf } from './words.mjs';
import { call, closeAll, found, join, openBrowser, openPerson, openServer, put } from './world.mjs';

const t = wordsOf('en');
const ARRIVALS = {
  slug: 'greet-arrivals',
  title: 'Greet arrivals',
  inputs: { object_id: { type: 'string' }, key: { type: 'string' }, times: { type: 'integer', optional: true } },
  start: 'note',
  max_steps: 5,
  steps: [{ name: 'note', kind: 'tool', tool: 'notes_create', with: { title: { $: 'input.key' }, body: { $: 'input.object_id' } } }],
};
let browser, server, ada;
before(async () => {
  [browser, server] = await Promise.all([openBrowser(), openServer({ SERVICE_EMBED_WORKER: '1' })]);
  ada = await found(server);
  await call(server, '/api/workflows', { token: ada, body: ARRIVALS });
});
after(closeAll);

const button = (page, name) => page.getByRole('button', { name, exact: true });
const news = (page, text) => page.getByTestId('toast').getByText(text).waitFor();
const fires = (page, outcome) => page.locator(`[data-testid=fire][data-outcome=${outcome}]`);

describe('a trigger', () => {
  it('is rehearsed on what came last, made, and fires for an upload', async () => {
    await put(server, ada, 'arrivals/old.csv', 'a', 'text/csv');
    await put(server, ada, 'other/old.csv', 'a', 'text/csv');
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/triggers');
    await page.getByText(t('triggers.none_title')).waitFor();
    await page.getByRole('link', { name: t('nav.new_trigger') }).first().click();
    await button(page, t('triggers.create')).click();
    await page.getByText(t('triggers.workflow_needed')).waitFor();
    await page.getByLabel(t('triggers.workflow')).selectOption('greet-arrivals');
    await page.getByLabel(t('triggers.prefix')).fill('arrivals/');
    await page.getByLabel(t('triggers.types')).fill('csv');
    await page.getByText(t('triggers.type_wrong', { type: 'csv' })).waitFor();
    await page.getByLabel(t('triggers.types')).fill('text/csv');
    assert.equal(await page.getByLabel('object_id').inputValue(), 'object.id');
    await page.getByLabel('key', { exact: true }).selectOption('object.key');
    await button(page, t('triggers.rehearse')).click();
    await page.getByTestId('rehearsal').getByText(t('triggers.would_fire', { n: '1', all: 2 })).waitFor();
    await page.getByTestId('rehearsal').getByText('arrivals/old.csv').waitFor();
    await examineBoth(page, 'a rehearsal');
    assert.equal((await call(server, '/api/doc-triggers', { token: ada })).items.length, 0);
    await button(page, t('triggers.create')).click();
    await page.getByText(t('triggers.no_fires_body')).waitFor();

    const { id } = await put(server, ada, 'arrivals/hafrun.csv', 'a,b', 'text/csv');
    await fires(page, 'fired').getByText('arrivals/hafrun.csv').waitFor();
    await fires(page, 'fired').getByText(t('runs.state_succeeded')).waitFor();
    await page.getByRole('link', { name: t('triggers.its_run'), exact: true }).click();
    await page.locator('[data-testid=run-state][data-state=succeeded]').waitFor();
    const { items } = await call(server, '/api/notes', { token: ada });
    assert.equal(items.filter((note) => note.title === 'arrivals/hafrun.csv').length, 1);
    await person.go(`/files/${id}?view=processing`);
    await page.getByTestId('file-run').getByText('Greet arrivals').waitFor();
    await person.close();
  });

  it('says in plain words why it started nothing', async () => {
    const { id } = await call(server, '/api/doc-triggers', { token: ada, body: { workflow_slug: 'greet-arrivals', name: 'Switched', match_prefix: 'off/', input: { key: 'fixed' } } });
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go(`/triggers/${id}`);
    await page.getByRole('switch').click();
    await news(page, t('triggers.turned_off', { name: 'Switched' }));
    await put(server, ada, 'off/file.txt', 'x');
    await fires(page, 'skipped').getByText(t('triggers.reason_disabled')).waitFor();
    await button(page, t('triggers.delete')).click();
    await page.getByRole('dialog').getByRole('button', { name: t('triggers.delete') }).click();
    await news(page, t('triggers.deleted', { name: 'Switched' }));
    await page.getByTestId('trigger').filter({ hasText: 'Switched' }).waitFor({ state: 'detached' });
    await person.close();
  });

  it('is not changed over another change, and a member only looks', async () => {
    const { id } = await call(server, '/api/doc-triggers', { token: ada, body: { workflow_slug: 'greet-arrivals', name: 'Contested', match_prefix: 'c/', input: { key: 'fixed' } } });
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go(`/triggers/${id}/edit`);
    await page.getByLabel(t('triggers.name')).fill('Mine');
    await call(server, `/api/doc-triggers/${id}`, { token: ada, method: 'PATCH', body: { name: 'Theirs' } });
    await button(page, t('ui.save')).click();
    await page.getByText(t('errors.triggers_stale')).waitFor();
    assert.equal((await call(server, `/api/doc-triggers/${id}`, { token: ada })).name, 'Theirs');
    await person.close();

    const tom = await join(server, ada, 'tom', 'Tom Becker');
    const member = await openPerson(browser, server, { token: tom.token });
    await member.go(`/triggers/${id}`);
    assert.equal(await member.page.getByRole('switch').isDisabled(), true);
    assert.equal(await button(member.page, t('triggers.delete')).count(), 0);
    await member.close();
  });

  for (const locale of LOCALES) {
    it(`is made on a phone in ${locale}`, async () => {
      const words = wordsOf(locale);
      await call(server, '/api/profile', { token: ada, body: { locale } });
      const person = await openPerson(browser, server, { token: ada, locale, width: 360, height: 740 });
      const { page } = person;
      await person.go('/triggers/new?workflow=greet-arrivals');
      await page.getByLabel('key', { exact: true }).selectOption('object.filename');
      await page.getByLabel(words('triggers.name')).fill(`In ${locale}`);
      await examineBoth(page, `a trigger's form in ${locale}`);
      await button(page, words('triggers.create')).click();
      await page.getByText(words('triggers.no_fires_body')).waitFor();
      await examineBoth(page, `a trigger in ${locale}`);
      await person.close();
    });
  }
});
