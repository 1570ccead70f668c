// Chat with a real language model on llama.cpp's own server: connected as the card says, read as it speaks, stopped, left, found again.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { examineBoth } from '../axe.mjs';
import { closeLlamas, openLlama } from '../llama.mjs';
import { LOCALES, wordsOf } from '../words.mjs';
import { ask as read, call, closeAll, found, join, openBrowser, openPerson, openServer } from '../world.mjs';

const t = wordsOf('en');
const SHORT = 'Name three rivers of Europe.';
const LONG = 'Write a long story about a harbour and its pilot.';
const PICTURE = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
const SCHEMA = { type: 'object', properties: { port: { type: 'string', maxLength: 30 }, berths: { type: 'integer', minimum: 0, maximum: 999 } }, required: ['port', 'berths'], additionalProperties: false };
let browser, llama, server, ada;
before(async () => {
  browser = await openBrowser();
  llama = await openLlama('small');
  server = await openServer(llama.settings);
  ada = await found(server);
});
after(async () => {
  await closeAll();
  await closeLlamas();
});

const answer = (page) => page.locator('[data-testid=message][data-role=assistant]').last();
const question = (page, words) => page.getByLabel(words('chat.ask'));
const stop = (page, words = t) => page.getByRole('button', { name: words('chat.stop') });
const idOf = (page) => page.url().match(/[0-9a-f-]{36}/)[0];
const conversation = (page) => read(page, `/api/repo-obj/${idOf(page)}/content`);
/** Letters alone: how Markdown is drawn, and numbers its lists, does not matter. */
const letters = (text) => text.replace(/[^\p{L}]/gu, '');
const asking = (text) => llama.asked.filter(({ body }) => JSON.stringify(body.messages?.at(-1)?.content ?? '').includes(text));

async function ask(page, words, text) {
  await question(page, words).fill(text);
  await page.keyboard.press('Enter');
  await page.waitForURL(/#\/chat\/[0-9a-f-]{36}/);
}

/** Wait until more of the answer is there than this. */
const grows = (page, than) => page.waitForFunction((length) => ([...document.querySelectorAll('[data-role=assistant]')].at(-1)?.innerText.length ?? 0) > length, than, { timeout: 120_000 });
/** The answer has ended: what it cost is shown, and it can be stopped no more. */
async function ended(page, words = t) {
  await stop(page, words).waitFor({ state: 'detached', timeout: 240_000 });
  await answer(page).getByText(new RegExp(words('chat.tokens', { n: '[\\d.,\\s]+' }))).waitFor();
}

/** By the Tab key alone, from where the focus is. */
async function tabTo(page, found) {
  for (let presses = 0; presses < 60; presses++) {
    if (await page.evaluate(found[0], found[1])) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`the keyboard does not reach ${found[1]}`);
}
const named = (name) => [(wanted) => document.activeElement?.textContent?.trim() === wanted, name];
const labelled = (name) => [(wanted) => document.activeElement?.labels?.[0]?.textContent === wanted, name];

describe('a model', () => {
  for (const [at, locale] of LOCALES.entries()) {
    const width = at % 2 ? 360 : 1280;
    it(`is connected as the card says and asked by keyboard alone, in ${locale}, ${width} pixels wide`, async () => {
      const words = wordsOf(locale);
      const bare = await openServer();
      const token = await found(bare);
      await call(bare, '/api/profile', { token, body: { locale } });
      const person = await openPerson(browser, bare, { locale, token, width });
      const { page } = person;
      await person.go('/chat');
      await page.getByRole('heading', { name: words('chat.connect_title') }).waitFor();
      await examineBoth(page, `connect ${locale}`);
      const line = await page.getByText('SERVICE_LOCAL_MODEL_URL=http://127.0.0.1:8080/v1', { exact: true }).textContent();
      await bare.say(`restart ${line.replace('http://127.0.0.1:8080/v1', llama.url)} SERVICE_LOCAL_MODEL_KEY=${llama.key}`);
      await tabTo(page, named(words('chat.connect_check')));
      await page.keyboard.press('Enter');
      await page.getByText(words('chat.answers_own')).waitFor();
      assert.equal(await page.getByText(words('chat.silent')).count(), 0);
      await tabTo(page, labelled(words('chat.ask')));
      await page.keyboard.type(SHORT);
      await page.keyboard.press('Enter');
      await page.waitForURL(/#\/chat\/[0-9a-f-]{36}/);
      await grows(page, 20);
      await examineBoth(page, `answering ${locale}`);
      await ended(page, words);
      assert.equal(letters(await answer(page).innerText()).startsWith(letters(asking(SHORT).at(-1).said)), true);
      await examineBoth(page, `answered ${locale}`);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
      await person.close();
      await bare.close();
    });
  }
});

describe('an answer', () => {
  it('is read as it is said and stopped in the middle by keyboard; the model is hung up on', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/chat');
    await ask(page, t, LONG);
    await grows(page, 40);
    const early = (await answer(page).innerText()).length;
    await grows(page, early + 60);
    await tabTo(page, named(t('chat.stop')));
    await page.keyboard.press('Enter');
    await ended(page);
    const [asked] = asking(LONG);
    assert.equal(asked.cut, true);
    for (let looks = 0; await llama.busy(); looks++) assert.ok(looks < 100, 'llama.cpp still works on it');
    const { messages } = await conversation(page);
    assert.ok(asked.said.startsWith(messages[1].content) && messages[1].content.length > 60);
    // It told its count with every piece, so that this is no estimate.
    assert.equal(messages[1].usage.exact, true);
    await page.reload();
    await grows(page, letters(messages[1].content).length);
    assert.ok(letters(await answer(page).innerText()).startsWith(letters(messages[1].content)));
    assert.equal(await page.getByTestId('message').count(), 2);
    await person.close();
  });

  it('is loaded again three times in the middle, and nothing is lost, doubled or asked twice', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/chat');
    await ask(page, t, `${SHORT} Then name three more.`);
    for (const length of [10, 60, 110]) {
      await grows(page, length);
      await page.reload();
    }
    await ended(page);
    const all = asking('Then name three more.');
    assert.equal(all.length, 1);
    const { messages } = await conversation(page);
    assert.equal(messages[1].content, all[0].said);
    const shown = letters(await answer(page).innerText());
    assert.ok(shown.startsWith(letters(all[0].said)), `${shown}\n${letters(all[0].said)}`);
    assert.ok(shown.length - letters(all[0].said).length < 20);
    assert.equal(await page.getByTestId('message').count(), 2);
    await person.close();
  });

  it('goes on at another browser, and the next question there knows what was said', async () => {
    const [person, other] = [await openPerson(browser, server, { token: ada }), await openPerson(browser, server, { token: ada, width: 390, height: 800 })];
    await person.go('/chat');
    await ask(person.page, t, `${SHORT} Say why.`);
    await grows(person.page, 10);
    await person.close();
    await other.go(new URL(person.page.url()).hash.slice(1));
    await grows(other.page, 20);
    await stop(other.page).waitFor();
    await ended(other.page);
    const [first] = asking('Say why.');
    assert.equal((await conversation(other.page)).messages[1].content, first.said);
    await ask(other.page, t, 'And which is the longest?');
    await grows(other.page, 0);
    await stop(other.page).click();
    await ended(other.page);
    const [second] = asking('And which is the longest?');
    assert.deepEqual(second.body.messages.slice(-3).map(({ content }) => content), [`${SHORT} Say why.`, first.said, 'And which is the longest?']);
    await other.close();
  });

  it('keeps to a schema, and is shown for reading', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/chat');
    await page.getByRole('button', { name: t('chat.as_json') }).click();
    await page.getByLabel(t('chat.schema')).fill(JSON.stringify(SCHEMA));
    await ask(page, t, 'Which port, and how many berths? Rotterdam has 31 berths.');
    await page.getByTestId('structured').getByText('berths', { exact: true }).waitFor({ timeout: 60_000 });
    const said = JSON.parse((await conversation(page)).messages[1].content);
    assert.deepEqual(Object.keys(said).sort(), ['berths', 'port']);
    await page.getByTestId('structured').getByText(String(said.berths), { exact: true }).waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
    await examineBoth(page, 'structured');
    await person.close();
  });
});

describe('a question', () => {
  it('carries the text of a file that was dropped', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/chat');
    await drop(page, 'manifest.txt', 'text/plain', Buffer.from('Forty reefers for berth 7.'));
    await page.locator('[data-testid=chip][data-state=done]').waitFor();
    await ask(page, t, 'What is in this file?');
    await grows(page, 5);
    assert.match(JSON.stringify(asking('What is in this file?')[0].body.messages.at(-1)), /Forty reefers for berth 7/);
    await stop(page).click();
    await ended(page);
    await page.reload();
    await page.getByRole('link', { name: 'manifest.txt' }).waitFor();
    await person.close();
  });

  it('with a picture that the model cannot see is refused in words, and another can be asked', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/chat');
    await drop(page, 'berth.png', 'image/png', PICTURE);
    await page.locator('[data-testid=chip][data-state=done]').waitFor();
    await ask(page, t, 'What is in this picture?');
    await page.getByRole('alert').getByText(t('errors.models_refused')).waitFor();
    assert.ok(await question(page, t).isEnabled());
    await person.close();
  });

  it('that is longer than the model can read is refused in words', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/chat');
    await ask(page, t, 'berth and tide '.repeat(3000));
    await page.getByRole('alert').getByText(t('errors.models_refused')).waitFor();
    await person.close();
  });

  for (const locale of LOCALES) {
    it(`is asked and stopped on a phone in ${locale}`, async () => {
      const words = wordsOf(locale);
      const { token } = await join(server, ada, `skipper-${locale}`, 'Skipper');
      await call(server, '/api/profile', { token, body: { locale } });
      const person = await openPerson(browser, server, { locale, token, width: 360, height: 740 });
      const { page } = person;
      await person.go('/chat');
      await ask(page, words, LONG);
      await grows(page, 60);
      await examineBoth(page, `phone ${locale}`);
      await stop(page, words).click();
      await ended(page, words);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
      await person.close();
    });
  }
});

// Last: it takes the model away.
describe('a model that dies', () => {
  it('in the middle of an answer is told, and what it said is kept', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/chat');
    await ask(page, t, LONG);
    await grows(page, 40);
    await llama.close();
    await page.getByRole('alert').getByText(t('errors.models_unavailable')).waitFor();
    assert.ok(letters(await answer(page).innerText()).length > 20);
    await person.close();
  });
});

const drop = (page, name, type, bytes) => page.evaluate(([title, kind, raw]) => {
  const data = new DataTransfer();
  data.items.add(new File([new Uint8Array(raw)], title, { type: kind }));
  dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
}, [name, type, [...bytes]]);
