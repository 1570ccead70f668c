// Workflows: written, started, failed, mended, resumed and watched; by mouse, by keyboard and on a phone.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { examineBoth } from './axe.mjs';
import { ended, mended, SHIFT } from './workflow-screens.mjs';
import { LOCALES, wordsOf } from './words.mjs';
import { call, closeAll, found, join, openBrowser, openPerson, openServer } from './world.mjs';

const t = wordsOf('en');
let browser, server, ada;
before(async () => {
  [browser, server] = await Promise.all([openBrowser(), openServer({ SERVICE_EMBED_WORKER: '1' })]);
  ada = await found(server);
});
after(closeAll);

const button = (page, name) => page.getByRole('button', { name, exact: true });
const news = (page, text) => page.getByTestId('toast').getByText(text).waitFor();
const inState = (page, state) => page.locator(`[data-testid=run-state][data-state=${state}]`).waitFor();
const stepIn = (page, name, state) => page.locator(`[data-step=${name}][data-state=${state}]`).waitFor();
const judged = (page) => page.locator('[data-testid=verdict]:not([data-judging])').waitFor();
const publish = (token, body) => call(server, '/api/workflows', { token, body });
const start = (token, slug, body) => call(server, `/api/workflows/${slug}/run`, { token, body });
const named = (slug) => ({ ...SHIFT, slug, title: slug });
/** Makes a document of a file's text; no template has the tag `show`. */
const FORMS = {
  slug: 'forms-for-arrivals',
  title: 'Forms for arrivals',
  inputs: { object_id: { type: 'string' } },
  start: 'text',
  max_steps: 5,
  steps: [
    { name: 'text', kind: 'tool', tool: 'doc_text', with: { object: { $: 'input.object_id' } } },
    { name: 'form', kind: 'tool', tool: 'doc_render', with: { object: { $: 'input.object_id' }, data: { $: 'steps.text.output.result' }, template: '# Arrival\n\n{% show text %}\n' } },
  ],
};
const FORMS_MENDED = { ...FORMS, steps: [FORMS.steps[0], { ...FORMS.steps[1], with: { ...FORMS.steps[1].with, template: '# Arrival\n\n{{ text }}\n' } }] };
/** Enter on what is there and can be used. */
const enter = (place) => place.and(place.page().locator('a, :enabled')).press('Enter');

/** A file that is dropped on the page. */
async function drop(page, name, body) {
  await page.getByLabel(t('files.new_are')).waitFor();
  for (const type of ['dragover', 'drop']) {
    await page.evaluate(([event, file, text]) => {
      const data = new DataTransfer();
      data.items.add(new File([text], file, { type: 'text/plain' }));
      document.body.dispatchEvent(new DragEvent(event, { dataTransfer: data, bubbles: true, cancelable: true }));
    }, [type, name, body]);
    if (type === 'dragover') await page.getByTestId('veil').waitFor();
  }
  await page.locator('[data-testid=upload][data-state=done]').waitFor();
}

/** Another text in the editor; the one before is gone. */
async function write(page, spec) {
  await page.locator('.cm-content').fill(typeof spec === 'string' ? spec : JSON.stringify(spec, null, 2));
  await judged(page);
}

describe('a workflow', () => {
  it('is published, started, fails, is mended and resumed from the failed step', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/workflows');
    await page.getByRole('link', { name: t('nav.new_workflow') }).click();
    await judged(page);
    await write(page, SHIFT);
    await button(page, t('workflows.publish')).click();
    await news(page, t('workflows.published', { version: 1 }));

    await page.getByRole('link', { name: t('workflows.start') }).click();
    await button(page, t('workflows.start')).click();
    await page.getByText(t('ui.needed')).waitFor();
    await page.getByLabel('berths').fill('Berth 7, Berth 9');
    await page.getByText(t('workflows.not_array')).waitFor();
    await page.getByLabel('berths').fill('["Berth 7", "Berth 9"]');
    await page.getByLabel('day').fill('Tuesday');
    await button(page, t('workflows.start')).click();
    await inState(page, 'failed');
    await stepIn(page, 'write', 'succeeded');
    await stepIn(page, 'nothing', 'skipped');
    await page.getByTestId('inspector').and(page.locator('[data-step=check]')).waitFor();
    await page.getByTestId('failure').getByText(t('runs.advice')).waitFor();
    assert.equal(await page.getByTestId('attempt').count(), 1);
    const failed = page.url();

    await page.getByRole('link', { name: 'shift-notes 1' }).click();
    await page.getByRole('link', { name: t('workflows.edit'), exact: true }).first().click();
    await judged(page);
    await write(page, mended(SHIFT));
    await button(page, t('workflows.publish')).click();
    await news(page, t('workflows.published', { version: 2 }));
    await page.waitForURL((url) => !/edit/.test(url.hash));

    await page.goto(failed);
    await button(page, t('runs.resume')).click();
    assert.equal(await page.getByLabel(t('workflows.version')).inputValue(), '2');
    await page.getByRole('dialog').getByRole('button', { name: t('runs.resume') }).click();
    await page.waitForURL((url) => url.href !== failed && /runs/.test(url.hash));
    await inState(page, 'succeeded');
    await page.locator('[data-step=write]').click();
    await page.getByText(t('runs.reused')).first().waitFor();
    const { items } = await call(server, '/api/notes', { token: ada });
    assert.deepEqual(items.filter((note) => note.title.startsWith('Berth')).map((note) => note.title).sort(), ['Berth 7', 'Berth 9']);
    await person.close();
  });

  it('is published, fired by a dropped file, mended after it failed, resumed, and leads to the document it made, by keyboard', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/workflows/_new');
    await judged(page);
    await write(page, FORMS);
    await enter(button(page, t('workflows.publish')));
    await news(page, t('workflows.published', { version: 1 }));
    await page.waitForURL((url) => url.hash.endsWith(FORMS.slug));

    await person.go('/triggers');
    await enter(page.getByRole('link', { name: t('nav.new_trigger') }).first());
    await page.getByLabel(t('triggers.workflow')).selectOption(FORMS.slug);
    await page.getByLabel(t('triggers.prefix')).fill('forms/');
    await enter(button(page, t('triggers.create')));
    await page.getByText(t('triggers.no_fires_body')).waitFor();
    const trigger = page.url();

    await person.go('/files?at=forms/');
    await drop(page, 'hafrun.txt', 'Forty reefers for berth 7.');
    await page.goto(trigger);
    const fire = page.locator('[data-testid=fire][data-outcome=fired]');
    await fire.getByText('forms/hafrun.txt').waitFor();
    await fire.getByText(t('runs.state_failed')).waitFor();
    await enter(fire.getByRole('link', { name: t('triggers.its_run') }));
    await inState(page, 'failed');
    await stepIn(page, 'text', 'succeeded');
    await page.getByTestId('inspector').and(page.locator('[data-step=form]')).getByTestId('failure').waitFor();
    const failed = page.url();

    await enter(page.getByRole('link', { name: `${FORMS.slug} 1` }));
    await enter(page.getByRole('link', { name: t('workflows.edit'), exact: true }).first());
    await judged(page);
    await write(page, FORMS_MENDED);
    await enter(button(page, t('workflows.publish')));
    await news(page, t('workflows.published', { version: 2 }));
    await page.waitForURL((url) => !/edit/.test(url.hash));

    await page.goto(failed);
    await enter(button(page, t('runs.resume')));
    assert.equal(await page.getByLabel(t('workflows.version')).inputValue(), '2');
    await enter(page.getByRole('dialog').getByRole('button', { name: t('runs.resume') }));
    await page.waitForURL((url) => url.href !== failed && /runs/.test(url.hash));
    await inState(page, 'succeeded');
    await page.locator('button[data-step=form]').press('ArrowUp');
    await page.getByTestId('inspector').and(page.locator('[data-step=text]')).getByText(t('runs.reused')).waitFor();
    await page.keyboard.press('ArrowDown');
    await enter(page.getByTestId('inspector').and(page.locator('[data-step=form]')).getByRole('link', { name: t('ui.open_file') }));
    await page.getByRole('heading', { name: 'hafrun.txt.form.md', level: 1 }).waitFor();
    await page.locator('.prose').getByText('Forty reefers for berth 7.').waitFor();
    await enter(page.getByRole('main').getByRole('link', { name: t('files.write'), exact: true }));
    await page.waitForURL(/#\/documents\//);
    await page.locator('.cm-content').getByText('Forty reefers for berth 7.').waitFor();
    await person.close();
  });

  it('says beside the text what is wrong with it, and leads to the line', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/workflows/_new');
    await judged(page);
    await write(page, '{\n  "slug": "a",\n  "steps": [,]\n}');
    await page.getByTestId('problem').getByText(t('workflows.problem_json')).waitFor();
    await page.getByTestId('problem').getByText(t('workflows.line', { n: 3 })).waitFor();
    assert.equal(await button(page, t('workflows.publish')).isDisabled(), true);

    const spec = { slug: 'wrong', start: 'one', max_steps: 3, steps: [{ name: 'one', kind: 'tool', tool: 'no_such_tool' }, { name: 'two', kind: 'tool', tool: 'notes_create', with: { title: 'x', text: 'y' } }] };
    await write(page, spec);
    const problem = page.getByTestId('problem').filter({ hasText: '/steps/0/tool' });
    await problem.getByText(t('workflows.problem_unknown_tool')).waitFor();
    await page.getByTestId('problem').filter({ hasText: t('workflows.problem_missing_parameter') }).waitFor();
    const line = JSON.stringify(spec, null, 2).split('\n').findIndex((text) => text.includes('no_such_tool')) + 1;
    await problem.getByText(t('workflows.line', { n: line }), { exact: false }).waitFor();
    assert.ok(await page.locator('.cm-problem', { hasText: 'no_such_tool' }).count());
    await problem.click();
    await page.keyboard.type('//');
    await page.locator('.cm-line', { hasText: /^\/\/.*no_such_tool/ }).waitFor();
    await person.close();
  });

  it('is not overwritten when another version came first, and an unpublished text stays', async () => {
    await publish(ada, named('contested'));
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/workflows/contested/edit');
    await judged(page);
    await write(page, { ...named('contested'), title: 'Mine' });
    await publish(ada, { ...named('contested'), title: 'Theirs' });
    await button(page, t('workflows.publish')).click();
    await page.getByText(t('workflows.overtaken', { version: 2 })).waitFor();
    await button(page, t('workflows.see_difference')).click();
    await page.locator('[data-line=added]', { hasText: 'Theirs' }).waitFor();
    await button(page, t('ui.done')).click();

    await page.reload();
    await page.getByText(t('workflows.draft_back')).waitFor();
    await page.locator('.cm-line', { hasText: 'Mine' }).waitFor();
    await judged(page);
    await button(page, t('workflows.publish')).click();
    await button(page, t('workflows.go_on_from', { version: 2 })).click();
    await button(page, t('workflows.publish')).click();
    await news(page, t('workflows.published', { version: 3 }));
    await button(page, t('versions.compare_version', { n: 2 })).click();
    await page.locator('[data-line=removed]', { hasText: 'Theirs' }).waitFor();
    await page.locator('[data-line=added]', { hasText: 'Mine' }).waitFor();
    await person.close();
  });

  it('that a member may not write can be started, and a viewer only looks', async () => {
    await publish(ada, named('look-only'));
    const { id } = await start(ada, 'look-only', { input: { berths: ['Secret berth'], day: 'Monday' } });
    await ended(server, ada, id);
    const [marta, tom] = [await join(server, ada, 'marta', 'Marta Vidal'), await join(server, ada, 'tom', 'Tom Becker', 'viewer')];
    const member = await openPerson(browser, server, { token: marta.token });
    await member.go('/workflows/look-only');
    await member.page.getByRole('link', { name: t('workflows.start') }).waitFor();
    assert.equal(await member.page.getByRole('link', { name: t('workflows.edit'), exact: true }).count(), 0);
    await member.go('/workflows/look-only/edit');
    await member.page.getByRole('heading', { name: t('app.forbidden_title') }).first().waitFor();
    await member.close();

    const viewer = await openPerson(browser, server, { token: tom.token });
    await viewer.go(`/runs/${id}?step=write`);
    await viewer.page.getByText(t('runs.redacted')).waitFor();
    assert.ok(!(await viewer.page.content()).includes('Secret berth'));
    assert.equal(await button(viewer.page, t('runs.resume')).count(), 0);
    await viewer.close();
  });
});

describe('a run', () => {
  it('retries only the items that failed', async () => {
    await publish(ada, { slug: 'each', start: 'read', max_steps: 10, inputs: { ids: { type: 'array' } }, steps: [{ name: 'read', kind: 'map', over: { $: 'input.ids' }, tool: 'notes_read', with: { id: { $: 'item' } } }] });
    const note = await call(server, '/api/notes', { token: ada, body: { title: 'There', body: 'x', visibility: 'team' } });
    const { id } = await start(ada, 'each', { input: { ids: [note.id, 'not-there'] } });
    await ended(server, ada, id);
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go(`/runs/${id}`);
    await page.locator('[data-testid=item][data-state=failed]').waitFor();
    await button(page, t('runs.retry_items')).click();
    await page.getByRole('dialog').getByRole('button', { name: t('runs.retry_items') }).click();
    await page.waitForURL((url) => !url.hash.includes(id));
    await inState(page, 'failed');
    await page.locator('[data-testid=item][data-state=succeeded] summary').click();
    await page.getByTestId('item').getByText(t('runs.reused')).waitFor();
    await person.close();
  });

  it('P2, P8: is not simply done with failures, and what it made opens from its card', async () => {
    const made = { name: 'write', kind: 'tool', tool: 'notes_create', with: { title: 'Check berth 7', body: 'x' } };
    const read = { name: 'read', kind: 'map', over: { $: 'input.ids' }, tool: 'notes_read', with: { id: { $: 'item' } }, on_item_error: 'collect' };
    await publish(ada, { slug: 'half', title: 'Half of it', start: 'read', max_steps: 10, inputs: { ids: { type: 'array' } }, steps: [read, made] });
    const note = await call(server, '/api/notes', { token: ada, body: { title: 'Berth plan', body: 'x', visibility: 'team' } });
    const { id } = await start(ada, 'half', { input: { ids: [note.id, 'not-there'] } });
    await ended(server, ada, id);
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/runs');
    await page.locator('[data-testid=run][data-outcome=done_with_failures]').getByText(t('runs.outcome_failures', { n: 1 })).waitFor();
    await person.go(`/runs/${id}?step=read`);
    await page.locator('[data-testid=run-state][data-outcome=done_with_failures]').waitFor();
    await page.getByTestId('item').getByText('Berth plan', { exact: true }).waitFor();
    await examineBoth(page, 'a run with failures');
    await person.go(`/runs/${id}?step=write`);
    await page.getByTestId('artifact').getByRole('link', { name: t('ui.open') }).click();
    await page.waitForURL((url) => url.hash.includes('/notes/'));
    await person.close();
  });

  it('is walked through by keyboard alone, as a graph and as a list, and cancelled while it waits', async () => {
    await server.say('restart SERVICE_EMBED_WORKER=0');
    await publish(ada, named('by-keyboard'));
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/');
    await page.keyboard.press('g');
    await page.keyboard.press('y');
    await page.getByRole('heading', { name: t('nav.workflows'), level: 1 }).waitFor();
    await page.getByText('by-keyboard').first().waitFor();
    const isThere = () => page.evaluate(() => document.activeElement.matches('[data-row]') && document.activeElement.textContent.includes('by-keyboard'));
    for (let times = 0; times < 30 && !(await isThere()); times++) await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: t('workflows.start') }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.getByLabel('berths').focus();
    await page.keyboard.type('["Berth 7"]');
    await page.getByLabel('day').focus();
    await page.keyboard.type('Friday');
    await page.getByLabel('day').press('Tab');
    await page.getByRole('dialog').getByRole('button', { name: t('workflows.start') }).focus();
    await page.keyboard.press('Enter');
    await inState(page, 'running');
    await page.getByText(t('jobs.waits_no_worker')).waitFor();

    await page.locator('button[data-step=any]').focus();
    await page.keyboard.press('ArrowDown');
    await page.getByTestId('inspector').and(page.locator('[data-step=write]')).getByText(t('runs.not_yet')).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.dataset.step), 'write');
    await page.keyboard.press('End');
    await page.getByTestId('inspector').and(page.locator('[data-step=nothing]')).waitFor();
    await button(page, t('runs.view_list')).press('Enter');
    await page.getByRole('button', { name: /any/ }).waitFor();
    await examineBoth(page, 'a run as a list');
    await button(page, t('runs.cancel')).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: t('runs.cancel') }).press('Enter');
    await inState(page, 'cancelled');
    await person.go('/runs?state=cancelled');
    await page.locator('[data-testid=run][data-state=cancelled]').waitFor();
    await person.close();
    await server.say('restart SERVICE_EMBED_WORKER=1');
  });

  for (const locale of LOCALES) {
    it(`is watched on a phone in ${locale}`, async () => {
      const words = wordsOf(locale);
      await call(server, '/api/profile', { token: ada, body: { locale } });
      await publish(ada, named('on-a-phone'));
      const { id } = await start(ada, 'on-a-phone', { input: { berths: ['Höfn'], day: 'x' } });
      const person = await openPerson(browser, server, { token: ada, locale, width: 360, height: 740 });
      const { page } = person;
      await person.go(`/runs/${id}`);
      await inState(page, 'failed');
      await page.getByText(words('runs.advice')).waitFor();
      await examineBoth(page, `a run in ${locale}`);
      await button(page, words('runs.resume')).click();
      await page.getByRole('dialog').waitFor();
      await examineBoth(page, `resuming in ${locale}`);
      await person.close();
    });
  }
});
