// The agent with llama.cpp's own tool parser: a model that calls the tool it is given with arguments of its own, approved, declined, left and found.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { examineBoth } from '../axe.mjs';
import { closeLlamas, openLlama } from '../llama.mjs';
import { LOCALES, wordsOf } from '../words.mjs';
import { call, closeAll, found, join, openBrowser, openPerson, openServer } from '../world.mjs';

const t = wordsOf('en');
// What the model says about any tool's result; its weights are written by hand.
const RECEIVED = 'Tool result received.';
let browser, llama, server, ada;
before(async () => {
  browser = await openBrowser();
  llama = await openLlama('tiny');
  server = await openServer({ ...llama.settings, SERVICE_LOCAL_MODEL: llama.model });
  ada = await found(server);
});
after(async () => {
  await closeAll();
  await closeLlamas();
});

const notes = async (token = ada) => (await call(server, '/api/notes', { token })).items;
const card = (page) => page.getByTestId('approvals');
const step = (page, status) => page.locator(`[data-testid=call][data-status=${status}]`);
const says = (page, text) => page.locator('[data-testid=message][data-role=assistant]').last().getByText(text).waitFor();

/** The one tool that the model is given, so that it calls this one. */
async function only(name) {
  for (const tool of (await call(server, '/api/tools', { token: ada })).items) {
    if (tool.enabled !== (tool.name === name)) await call(server, `/api/tools/${tool.name}`, { token: ada, body: { enabled: tool.name === name } });
  }
}

async function ask(page, words, text, { tools = true, file = null } = {}) {
  const toggle = page.getByRole('switch', { name: words('chat.use_tools') });
  if (((await toggle.getAttribute('aria-checked')) === 'true') !== tools) await toggle.click();
  if (file) {
    await page.locator('input[type=file]').setInputFiles({ name: 'manifest.txt', mimeType: 'text/plain', buffer: Buffer.from(file) });
    await page.locator('[data-testid=chip][data-state=done]').waitFor();
  }
  await page.getByLabel(words('chat.ask')).fill(text);
  await page.keyboard.press('Enter');
}

const tabTo = async (page, name) => {
  for (let presses = 0; presses < 12; presses++) {
    await page.keyboard.press('Tab');
    if ((await page.evaluate(() => document.activeElement?.textContent?.trim())) === name) return;
  }
  assert.fail(`the keyboard does not reach ${name}`);
};

/** A run that waits: it was given a file, and wants to write a note. */
async function waiting(person, words, text) {
  await person.go('/chat');
  await ask(person.page, words, text, { file: 'Forty reefers for berth 7. Write a note about them.' });
  await card(person.page).waitFor();
}

describe('a task', () => {
  it('without tools is answered in words, and no tool is told to the model', async () => {
    const person = await openPerson(browser, server, { token: ada });
    await person.go('/chat');
    await ask(person.page, t, 'Tell me about berth 33', { tools: false });
    await person.page.getByText(t('chat.tokens', { n: '' }).trim()).first().waitFor();
    assert.equal(llama.asked.at(-1).body.tools, undefined);
    assert.equal(await person.page.getByTestId('call').count(), 0);
    await person.close();
  });

  it('that reads is done without a question, and its result answered', async () => {
    await only('notes_list');
    await call(server, '/api/notes', { token: ada, body: { title: 'Berth plan', body: 'Berth 3 is free.' } });
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/chat');
    await ask(page, t, 'Look at the notes');
    await says(page, RECEIVED);
    assert.deepEqual(llama.asked.at(-1).body.tools.map((tool) => tool.function.name), ['notes_list']);
    await page.getByTestId('call').waitFor();
    await page.reload();
    await says(page, RECEIVED);
    await page.getByTestId('call').waitFor();
    assert.equal(await page.getByTestId('message').count(), 2);
    await person.close();
  });

  it('that writes is done with the arguments the model made, once', async () => {
    await only('notes_create');
    const before = (await notes()).length;
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/chat');
    await ask(page, t, 'Write it down');
    await says(page, RECEIVED);
    await step(page, 'ok').waitFor();
    await page.getByTestId('artifact').waitFor();
    assert.equal((await notes()).length, before + 1);
    await examineBoth(page, 'a task');
    await person.close();
  });
});

describe('a call after words of others', () => {
  before(() => only('notes_create'));

  it('waits, is left, found in another browser and approved there by keyboard', async () => {
    const before = (await notes()).length;
    const [person, other] = [await openPerson(browser, server, { token: ada }), await openPerson(browser, server, { token: ada, width: 390, height: 800 })];
    await waiting(person, t, 'Note what is in the file');
    await person.page.waitForURL(/#\/chat\/[0-9a-f-]{36}/);
    assert.equal((await notes()).length, before);
    await person.page.reload();
    await card(person.page).waitFor();
    const address = new URL(person.page.url()).hash.slice(1);
    await person.close();
    await other.go(address);
    const { page } = other;
    await card(page).waitFor();
    await page.waitForFunction((title) => document.activeElement?.textContent === title, t('chat.approval_title', { n: 1 }));
    await tabTo(page, t('chat.approve'));
    await page.keyboard.press('Enter');
    await says(page, RECEIVED);
    await card(page).waitFor({ state: 'detached' });
    assert.equal((await notes()).length, before + 1);
    await other.close();
  });

  it('is declined, and nothing happens', async () => {
    const before = (await notes()).length;
    const person = await openPerson(browser, server, { token: ada });
    await waiting(person, t, 'Note it again');
    await card(person.page).getByRole('button', { name: t('chat.decline') }).click();
    await says(person.page, RECEIVED);
    await step(person.page, 'rejected').waitFor();
    assert.equal((await notes()).length, before);
    await person.close();
  });

  for (const locale of LOCALES) {
    it(`is read and approved on a phone in ${locale}`, async () => {
      const words = wordsOf(locale);
      const { token } = await join(server, ada, `pilot-${locale}`, 'Pilot');
      await call(server, '/api/profile', { token, body: { locale } });
      const person = await openPerson(browser, server, { locale, token, width: 360, height: 740 });
      const { page } = person;
      await waiting(person, words, 'Berths?');
      await examineBoth(page, `approval ${locale}`);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
      await card(page).getByRole('button', { name: words('chat.approve') }).click();
      await says(page, RECEIVED);
      assert.equal((await notes(token)).length, 1);
      await examineBoth(page, `approved ${locale}`);
      await person.close();
    });
  }
});

// Last: it takes the server away in the middle of a run.
describe('a run whose server dies', () => {
  it('is offered again, goes on, and writes once', async () => {
    await only('notes_create');
    const { token } = await join(server, ada, 'mate', 'Mate');
    const person = await openPerson(browser, server, { token });
    const { page } = person;
    await waiting(person, t, 'Note the reefers');
    await page.waitForURL(/#\/chat\/[0-9a-f-]{36}/);
    llama.pause();
    await card(page).getByRole('button', { name: t('chat.approve') }).click();
    for (let looks = 0; (await notes(token)).length === 0; looks++) assert.ok(looks < 300, 'the note is not written');
    await server.say('crash');
    llama.go();
    await page.getByRole('button', { name: t('chat.go_on'), exact: true }).click({ timeout: 60_000 });
    await says(page, RECEIVED);
    await step(page, 'ok').waitFor();
    assert.equal((await notes(token)).length, 1);
    await person.close();
  });
});
