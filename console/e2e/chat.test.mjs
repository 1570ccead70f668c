// Chat: asked from nothing, read as it is said, stopped, left and found again, here and at another device.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { closeModels, openModel } from './model.mjs';
import { LOCALES, wordsOf } from './words.mjs';
import { call, closeAll, found, openBrowser, openLine, openPerson, openServer } from './world.mjs';

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

const answer = (page) => page.locator('[data-testid=message][data-role=assistant]').last();
const says = (page, text) => answer(page).getByText(text).waitFor();
async function ask(page, words, text) {
  await page.getByLabel(words('chat.ask')).fill(text);
  await page.keyboard.press('Enter');
}

describe('a first chat', () => {
  for (const locale of LOCALES) {
    it(`shows how to connect a model, answers without one, and keeps both in ${locale}`, async () => {
      const words = wordsOf(locale);
      const bare = await openServer();
      const token = await found(bare);
      await call(bare, '/api/profile', { token, body: { locale } });
      const person = await openPerson(browser, bare, { locale, token });
      const { page } = person;
      await person.go('/chat');
      await page.getByRole('heading', { name: words('chat.connect_title') }).waitFor();
      await page.getByText('SERVICE_LOCAL_MODEL_URL=http://127.0.0.1:8080/v1', { exact: true }).waitFor();
      await page.getByText(words('chat.none_title')).waitFor();
      await ask(page, words, 'Which berth is free?');
      await page.waitForURL(/#\/chat\/[0-9a-f-]{36}/);
      await says(page, 'Which berth is free?');
      await page.getByRole('heading', { level: 1, name: 'Which berth is free?' }).waitFor();
      await page.reload();
      await says(page, 'Which berth is free?');
      await page.getByRole('region', { name: words('chat.conversations') }).getByRole('link', { name: /Which berth/ }).waitFor();
      await person.close();
      await bare.close();
    });
  }
});

describe('an answer', () => {
  it('is read as it is said, its thinking folded, and can be stopped', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/chat');
    await page.getByText(t('chat.answers', { model: 'harbour-7b' })).waitFor();
    await ask(page, t, 'Name the ports');
    const line = await model.line();
    line.think('Ports of the North Sea.');
    await page.getByText('Ports of the North Sea.').waitFor();
    line.say('**Rotterdam**', ' and ');
    await answer(page).locator('strong', { hasText: 'Rotterdam' }).waitFor();
    await page.getByText('Ports of the North Sea.').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: t('chat.stop') }).click();
    await page.getByText(t('chat.answering')).waitFor({ state: 'hidden' });
    await says(page, 'and');
    assert.equal(model.hungUp, 1);
    await page.getByText(/about \d+ tokens/).waitFor();
    await person.close();
  });

  it('goes on when the page is loaded again, and is there at another device', async () => {
    const [person, other] = [await openPerson(browser, server, { token: ada }), await openPerson(browser, server, { token: ada, width: 390 })];
    const { page } = person;
    await person.go('/chat');
    await ask(page, t, 'Count to six');
    const line = await model.line();
    line.say('one ', 'two ');
    await page.waitForURL(/#\/chat\/[0-9a-f-]{36}/);
    await says(page, 'one two');
    await page.reload();
    await says(page, 'one two');
    line.say('three ', 'four ');
    await says(page, 'one two three four');
    await page.reload();
    line.say('five ', 'six');
    line.finish(6);
    await says(page, 'one two three four five six');
    await page.getByText(t('chat.tokens', { n: '13' })).waitFor();
    assert.equal(await page.getByTestId('message').count(), 2);
    await other.go(new URL(page.url()).hash.slice(1));
    await says(other.page, 'one two three four five six');
    await person.close();
    await other.close();
  });

  it('is not lost when the line is cut in the middle', async () => {
    const line = await openLine(server);
    const person = await openPerson(browser, line, { token: ada, worker: false });
    const { page } = person;
    await person.go('/chat');
    await ask(page, t, 'Say it all');
    const speaking = await model.line();
    speaking.say('before ');
    await page.waitForURL(/#\/chat\/[0-9a-f-]{36}/);
    await says(page, 'before');
    line.cut();
    speaking.say('meanwhile ');
    await new Promise((done) => setTimeout(done, 300));
    line.mend();
    speaking.say('after');
    await says(page, 'before meanwhile after');
    speaking.finish();
    await page.getByText(t('chat.tokens', { n: '12' })).waitFor();
    assert.equal(model.asked.filter(({ messages }) => messages.at(-1).content === 'Say it all').length, 1);
    await person.close();
    line.close();
  });

  it('asks no other host for what it shows', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    const foreign = [];
    page.on('request', (request) => { if (!request.url().startsWith(server.address)) foreign.push(request.url()); });
    await person.go('/chat');
    await ask(page, t, 'Show me');
    const line = await model.line();
    line.say('![map](http://203.0.113.9/leak.png) [tides](http://203.0.113.9/t)\n\n<img src="http://203.0.113.9/raw.png">\n\n', 'the end');
    line.finish();
    await says(page, 'the end');
    await page.getByText(t('chat.tokens', { n: '12' })).waitFor();
    assert.deepEqual(foreign, []);
    await person.close();
  });

  it('that fails says why, and keeps what was said', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/chat');
    await ask(page, t, 'Break');
    const line = await model.line();
    line.say('half ');
    await page.waitForURL(/#\/chat\/[0-9a-f-]{36}/);
    await says(page, 'half');
    line.die();
    await page.getByRole('alert').getByText(t('errors.models_unavailable')).waitFor();
    await says(page, 'half');
    await person.close();
  });
});
