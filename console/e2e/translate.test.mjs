// Translation: side by side, what stayed and why, found again later, by the words of the team.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { examineBoth } from './axe.mjs';
import { closeModels, openModel } from './model.mjs';
import { LOCALES, wordsOf } from './words.mjs';
import { call, closeAll, found, join, openBrowser, openPerson, openServer } from './world.mjs';

const t = wordsOf('en');
let browser, model, server, ada;
before(async () => {
  browser = await openBrowser();
  model = await openModel();
  server = await openServer({ SERVICE_LOCAL_MODEL_URL: model.url, SERVICE_LOCAL_MODEL: 'harbour-7b' });
  ada = await found(server);
});
after(async () => {
  await closeAll();
  await closeModels();
});

const result = (page) => page.getByTestId('result');
/** Answers the next turn: `reply` makes a translation of each block. */
async function answer(reply) {
  const line = await model.line();
  const { blocks } = JSON.parse(model.asked.at(-1).messages.at(-1).content);
  line.say(JSON.stringify({ source: 'en', blocks: Object.fromEntries(Object.entries(blocks).map(([id, sent]) => [id, reply(sent)])) }));
  line.finish();
  return blocks;
}
async function write(page, words, text) {
  await page.getByLabel(words('translate.text'), { exact: true }).fill(text);
  await page.keyboard.press('Control+Enter');
}

describe('a first translation', () => {
  for (const locale of LOCALES) {
    it(`says that no model is connected, and is kept in ${locale}`, async () => {
      const words = wordsOf(locale);
      const bare = await openServer();
      const token = await found(bare);
      await call(bare, '/api/profile', { token, body: { locale } });
      const person = await openPerson(browser, bare, { locale, token });
      const { page } = person;
      await person.go('/translate');
      await page.getByText(words('translate.none_title')).waitFor();
      await write(page, words, 'The gate opens at eight.');
      await page.getByText(words('translate.simulated')).waitFor();
      assert.match(await page.getByTestId('result').inputValue(), /^Ťhè ĝàťè/);
      await page.reload();
      await page.getByRole('button', { name: /The gate opens/ }).click();
      assert.match(await page.getByTestId('result').inputValue(), /^Ťhè ĝàťè/);
      await person.close();
      await bare.close();
    });
  }
});

describe('a translation', () => {
  it('comes back whole, and names what stayed and which words were missed', async () => {
    await call(server, '/api/glossary', { token: ada, body: { target: 'es', term: 'berth', translation: 'atraque' } });
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/translate');
    await page.getByLabel(t('translate.to'), { exact: true }).selectOption('es');
    await page.getByLabel(t('translate.format')).selectOption('markdown');
    await write(page, t, '# The berth\n\nSee [the tides](https://tides.example/x).\n\n`code`\n');
    await page.getByText(t('translate.working')).waitFor();
    const blocks = await answer((sent) => (sent.includes('tides') ? 'lost' : 'El muelle'));
    assert.deepEqual(Object.values(blocks), ['The berth', 'See ⟦0⟧the tides⟦1⟧.']);
    await answer(() => 'lost again');
    await page.getByTestId('kept').getByText('See [the tides](https://tides.example/x).').waitFor();
    await page.getByText(t('translate.reason_marks')).waitFor();
    await page.getByTestId('missed').getByText('berth → atraque').waitFor();
    assert.equal(await result(page).inputValue(), '# El muelle\n\nSee [the tides](https://tides.example/x).\n\n`code`\n');
    await examineBoth(page, 'translate');
    await person.close();
  });

  it('works by keyboard alone, also on a phone', async () => {
    const person = await openPerson(browser, server, { token: ada, width: 390, height: 800 });
    const { page } = person;
    await person.go('/translate');
    await page.getByLabel(t('translate.text'), { exact: true }).focus();
    await page.keyboard.type('Good morning');
    await page.keyboard.press('Control+Enter');
    await answer(() => 'Buenos días');
    await page.waitForFunction(() => document.querySelector('[data-testid=result]').value === 'Buenos días');
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
    await page.reload();
    const row = page.getByRole('button', { name: /Good morning/ });
    await row.focus();
    await page.keyboard.press('Enter');
    assert.equal(await result(page).inputValue(), 'Buenos días');
    await examineBoth(page, 'translate on a phone');
    await person.close();
  });

  it('that fails says why, and keeps what was written', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/translate');
    await write(page, t, 'Break');
    (await model.line()).die();
    await page.getByRole('alert').getByText(t('errors.models_unavailable')).waitFor();
    assert.equal(await page.getByLabel(t('translate.text'), { exact: true }).inputValue(), 'Break');
    await person.close();
  });
});

describe('the glossary', () => {
  it('teaches, takes a term, changes it, finds it and lets it go', async () => {
    const bare = await openServer();
    const token = await found(bare);
    const person = await openPerson(browser, bare, { token });
    const { page } = person;
    await person.go('/settings/glossary');
    await page.getByText(t('glossary.none_body')).waitFor();
    await page.getByRole('button', { name: t('glossary.add') }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(t('glossary.term'), { exact: true }).fill('berth');
    await dialog.getByLabel(t('translate.to')).selectOption('es');
    await dialog.getByLabel(t('glossary.translation'), { exact: true }).fill('muelle');
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: 'muelle' }).waitFor();
    await page.getByRole('button', { name: t('glossary.change_name', { term: 'berth' }) }).click();
    await dialog.getByLabel(t('glossary.translation'), { exact: true }).fill('atraque');
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: 'atraque' }).waitFor();
    await page.getByRole('searchbox').fill('nothing');
    await page.getByText(t('glossary.no_match_title')).waitFor();
    await page.getByRole('searchbox').fill('atra');
    await page.getByRole('cell', { name: 'atraque' }).waitFor();
    await examineBoth(page, 'glossary');
    await page.getByRole('button', { name: t('glossary.remove_name', { term: 'berth' }) }).click();
    await dialog.getByRole('button', { name: t('glossary.remove'), exact: true }).click();
    await page.getByRole('searchbox').fill('');
    await page.getByText(t('glossary.none_title')).waitFor();
    await person.close();
    await bare.close();
  });

  it('is read by members, and changed by those who manage the team', async () => {
    const member = await join(server, ada, 'tom', 'Tom Becker');
    const person = await openPerson(browser, server, { token: member.token });
    const { page } = person;
    await person.go('/settings/glossary');
    await page.getByRole('cell', { name: 'atraque' }).waitFor();
    assert.equal(await page.getByRole('button', { name: t('glossary.add') }).count(), 0);
    assert.equal(await page.getByRole('button', { name: t('glossary.change_name', { term: 'berth' }) }).count(), 0);
    await person.close();
  });
});
