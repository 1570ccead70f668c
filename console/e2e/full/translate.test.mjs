// Translation by real model servers: a machine is put into service on the screen and chosen for the team; whatever it replies, nothing is broken.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { examineBoth } from '../axe.mjs';
import { closeLlamas, openLlama } from '../llama.mjs';
import { LOCALES, wordsOf } from '../words.mjs';
import { call, closeAll, confirm, found, join, openBrowser, openPerson, openServer } from '../world.mjs';

const t = wordsOf('en');
const PAGE = '# Berths\n\nSee [the tides](https://tides.example/x) before {ship} leaves at `06:00`.\n\n```sh\natrium up --port 8000\n```\n\nGood morning.\n';
let browser, noise, speaker, server, ada;
before(async () => {
  browser = await openBrowser();
  [noise, speaker] = [await openLlama('tiny'), await openLlama('small')];
  // An address inside the network is refused, unless the operator lists its host.
  server = await openServer({ ...speaker.settings, SERVICE_EXECUTOR_HOSTS: '127.0.0.1' });
  ada = await found(server);
});
after(async () => {
  await closeAll();
  await closeLlamas();
});

const result = (page) => page.getByTestId('result');
const row = (page, name) => page.getByTestId('executor').filter({ hasText: name });

async function translate(page, words, text, format = 'text') {
  await page.getByLabel(words('translate.to'), { exact: true }).selectOption('es');
  await page.getByLabel(words('translate.format')).selectOption(format);
  await page.getByLabel(words('translate.text'), { exact: true }).fill(text);
  await page.keyboard.press('Control+Enter');
  await page.waitForFunction(() => document.querySelector('[data-testid=result]').value !== '' && document.querySelector('[data-testid=result]').ariaBusy === 'false', null, { timeout: 120_000 });
}

/** Everything that is not prose stands as it stood, and every block was translated or is named. */
async function isWhole(page, asked) {
  const text = await result(page).inputValue();
  for (const part of ['https://tides.example/x', '{ship}', '`06:00`', '```sh\natrium up --port 8000\n```']) assert.ok(text.includes(part), `${part} is not in ${text}`);
  assert.deepEqual([text.match(/^# /gm)?.length, text.split('\n').length], [1, PAGE.split('\n').length]);
  const [last] = (await call(server, '/api/translate', { token: asked })).items;
  assert.equal(last.text, text);
  return last.report;
}

describe('a model that speaks a little', () => {
  for (const locale of LOCALES) {
    it(`breaks nothing, and the report says what became of each block, on a phone in ${locale}`, async () => {
      const words = wordsOf(locale);
      const { token } = await join(server, ada, `reader-${locale}`, 'Reader');
      await call(server, '/api/profile', { token, body: { locale } });
      const person = await openPerson(browser, server, { locale, token, width: 360, height: 740 });
      const { page } = person;
      await person.go('/translate');
      await translate(page, words, PAGE, 'markdown');
      const { blocks, kept } = await isWhole(page, token);
      await page.getByText(words('translate.done', { done: String(blocks - kept.length), n: blocks })).waitFor();
      assert.equal(await page.getByTestId('kept').getByRole('listitem').count(), kept.length);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
      await examineBoth(page, `translate ${locale}`);
      await page.reload();
      await page.getByRole('button', { name: /Berths/ }).focus();
      await page.keyboard.press('Enter');
      await isWhole(page, token);
      await person.close();
    });
  }
});

describe('a machine', () => {
  it('that does not answer is seen as such, and one that does is ready', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await connect(person, 'wrong port', 'http://127.0.0.1:9/v1', '');
    await connect(person, 'noise', noise.url, noise.key);
    await row(page, 'noise').getByText(t('executors.healthy')).waitFor({ timeout: 90_000 });
    await row(page, 'wrong port').getByText(t('executors.silent')).waitFor({ timeout: 90_000 });
    await examineBoth(page, 'executors');
    await person.close();
  });

  it('is chosen by the team; one whose replies never end is refused in words, and what was written stays', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/settings/models');
    await page.getByLabel(t('executors.role_utility')).selectOption({ label: 'noise' });
    await page.getByTestId('toast').getByText(t('executors.role_set')).waitFor();
    await person.go('/translate');
    await page.getByLabel(t('translate.format')).selectOption('markdown');
    await page.getByLabel(t('translate.text'), { exact: true }).fill(PAGE);
    await page.keyboard.press('Control+Enter');
    await page.getByRole('alert').getByText(t('errors.models_refused')).waitFor({ timeout: 60_000 });
    assert.equal(await page.getByLabel(t('translate.text'), { exact: true }).inputValue(), PAGE);
    // It was held to a schema, and its reply judged here all the same.
    assert.equal(noise.asked.at(-1).body.response_format.type, 'json_schema');
    await person.close();
  });
});

async function connect(person, name, url, key) {
  const { page } = person;
  await person.go('/settings/instance/executors/new');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(t('executors.name'), { exact: true }).fill(name);
  await dialog.getByText(t('executors.mode_push'), { exact: true }).click();
  await dialog.getByLabel(t('executors.url'), { exact: true }).fill(url);
  if (key) await dialog.locator('input[name=key]').fill(key);
  await dialog.getByLabel(t('executors.reach')).selectOption('everybody');
  await confirm(page);
  await dialog.getByRole('button', { name: t('executors.create') }).click();
  await row(page, name).waitFor();
}
