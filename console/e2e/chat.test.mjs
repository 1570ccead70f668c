// Chat: asked from nothing, read as it is said, stopped, left and found again, here and at another device.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { askForAll, said, SHAPES } from './long-answers.mjs';
import { closeModels, openModel } from './model.mjs';
import { LOCALES, wordsOf } from './words.mjs';
import { call, closeAll, found, openBrowser, openLine, openPerson, openServer, until } from './world.mjs';

const t = wordsOf('en');
const PICTURE = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
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

  it('that is under way is found at another device, and goes on there', async () => {
    const [person, other] = [await openPerson(browser, server, { token: ada }), await openPerson(browser, server, { token: ada, width: 390 })];
    await person.go('/chat');
    await ask(person.page, t, 'Count slowly');
    const line = await model.line();
    line.say('one ', 'two ');
    await person.page.waitForURL(/#\/chat\/[0-9a-f-]{36}/);
    await other.go(new URL(person.page.url()).hash.slice(1));
    await says(other.page, 'one two');
    await other.page.getByRole('button', { name: t('chat.stop') }).waitFor();
    line.say('three');
    line.finish(3);
    for (const { page } of [person, other]) {
      await says(page, 'one two three');
      await page.getByText(t('chat.tokens', { n: '10' })).waitFor();
      assert.equal(await page.getByTestId('message').count(), 2);
    }
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
    await until('the page finds no line', () => line.refused > 0);
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
    const link = answer(page).getByRole('link', { name: /tides/ });
    assert.deepEqual(await Promise.all(['rel', 'target', 'title'].map((name) => link.getAttribute(name))), ['noopener noreferrer', '_blank', 'http://203.0.113.9/t']);
    // The stored answer takes the place of the one that was said, and the link with it.
    await until('the link says where it leads', async () => /203\.0\.113\.9\/t/.test(await link.evaluate((one) => getComputedStyle(one, '::after').content)));
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

describe('a question', () => {
  it('carries files that were picked or dropped, and waits until their text is read', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/chat');
    await page.locator('input[type=file]').setInputFiles([{ name: 'manifest.txt', mimeType: 'text/plain', buffer: Buffer.from('Forty reefers for berth 7.') }, { name: 'wrong.txt', mimeType: 'text/plain', buffer: Buffer.from('no') }]);
    await page.evaluate((bytes) => {
      const data = new DataTransfer();
      data.items.add(new File([new Uint8Array(bytes)], 'berth.png', { type: 'image/png' }));
      dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    }, [...PICTURE]);
    await page.locator('[data-testid=chip][data-state=done]').nth(2).waitFor();
    await page.getByRole('button', { name: t('chat.file_remove', { name: 'wrong.txt' }) }).click();
    await ask(page, t, 'What is in these?');
    const line = await model.line();
    const [words, file, picture] = model.asked.at(-1).messages.at(-1).content;
    assert.equal(words.text, 'What is in these?');
    assert.match(file.text, /Forty reefers for berth 7/);
    assert.match(picture.image_url.url, /^data:image\/png;base64,/);
    line.say('Forty reefers.');
    line.finish();
    await says(page, 'Forty reefers.');
    await page.reload();
    await page.getByRole('link', { name: 'manifest.txt' }).waitFor();
    await page.getByRole('link', { name: 'berth.png' }).waitFor();
    // Files of questions are not conversations.
    assert.equal(await page.getByRole('region', { name: t('chat.conversations') }).getByRole('link', { name: /manifest|png/ }).count(), 0);
    await person.close();
  });

  it('with a file that has no text says so', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/chat');
    await page.locator('input[type=file]').setInputFiles({ name: 'noise.bin', mimeType: 'application/octet-stream', buffer: Buffer.from([0, 1, 2, 3]) });
    await page.locator('[data-testid=chip][data-state=done]').waitFor();
    await ask(page, t, 'What is this?');
    await page.getByRole('alert').getByText(t('errors.ai_no_text')).waitFor();
    assert.ok(await page.getByLabel(t('chat.ask')).isEnabled());
    await person.close();
  });

  it('is answered in JSON by a schema, shown for reading, and told what does not fit', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    const schema = { type: 'object', properties: { ports: { type: 'array', items: { type: 'object' } } }, required: ['ports'] };
    await person.go('/chat');
    await page.getByRole('button', { name: t('chat.as_json') }).click();
    await page.getByLabel(t('chat.schema')).fill('{"type": ');
    await ask(page, t, 'Which ports?');
    await page.getByText(t('chat.schema_json')).first().waitFor();
    await page.getByLabel(t('chat.schema')).fill(JSON.stringify(schema));
    await page.getByLabel(t('chat.ask')).press('Enter');
    const line = await model.line();
    assert.deepEqual(model.asked.at(-1).response_format.json_schema.schema, schema);
    line.say('{"ports": [{"name": "Bilbao", "berths": 4},', ' {"name": "Rotterdam", "berths": 31}]}');
    line.finish();
    await page.getByTestId('structured').getByRole('columnheader', { name: 'berths' }).waitFor();
    await page.getByTestId('structured').getByRole('cell', { name: '31' }).waitFor();
    await page.getByRole('button', { name: t('chat.as_json') }).click();
    await page.getByLabel(t('chat.schema')).fill(JSON.stringify(schema));
    await ask(page, t, 'Once more');
    const second = await model.line();
    second.say('{"harbours": []}');
    second.finish();
    await page.getByRole('alert').getByText(/ports/).waitFor();
    await person.close();
  });
});

describe('ten thousand tokens', () => {
  for (const [shape, word] of Object.entries(SHAPES)) {
    it(`are drawn once, as ${shape}: what was said is not touched by what is said next`, async () => {
      const person = await openPerson(browser, server, { token: ada, worker: false });
      const { page } = person;
      await askForAll(page);
      await person.go('/chat');
      await ask(page, t, 'Go on and on');
      const line = await model.line();
      line.say('begin ');
      await page.waitForURL(/#\/chat\/[0-9a-f-]{36}/);
      await says(page, 'begin');
      line.say('\n\n', ...said(word, 0, 2000), ' half-way ');
      await says(page, 'half-way');
      const drawn = await answer(page).locator('.prose').evaluate(watchFirst);
      line.say(...said(word, 2000, 10_000), '\n\nthe end');
      await says(page, 'the end');
      assert.ok(drawn > 1, `${drawn} blocks were drawn half-way`);
      assert.equal(await page.evaluate(() => window.__touched), 0);
      line.finish();
      await page.getByText(t('chat.tokens', { n: '12' })).waitFor();
      await person.close();
    });
  }
});

/** Counts what happens to the first half of what is drawn, from now on. */
function watchFirst(prose) {
  window.__touched = 0;
  const drawn = [...prose.children];
  const first = drawn.slice(0, Math.ceil(drawn.length / 2));
  const watch = new MutationObserver((list) => { window.__touched += list.length; });
  for (const one of first) watch.observe(one, { subtree: true, childList: true, characterData: true, attributes: true });
  new MutationObserver((list) => { for (const { removedNodes } of list) for (const node of removedNodes) if (first.includes(node)) window.__touched++; }).observe(prose, { childList: true });
  return drawn.length;
}
