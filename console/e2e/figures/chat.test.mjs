// How long a page stands still while a long answer is drawn: at most 50 ms of the processor's time at once.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { askForAll, said, SHAPES } from '../long-answers.mjs';
import { closeModels, openModel } from '../model.mjs';
import { wordsOf } from '../words.mjs';
import { closeAll, found, openBrowser, openPerson, openServer } from '../world.mjs';

const MOST = 50;
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

const says = (page, text) => page.locator('[data-testid=message][data-role=assistant]').last().getByText(text).waitFor();

/** The longest task of a page by the processor's time, in milliseconds: what other programs of this machine take does not count. */
function longestTask(trace) {
  const { traceEvents } = JSON.parse(trace.toString());
  const pages = new Set(traceEvents.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain').map(({ pid, tid }) => `${pid} ${tid}`));
  const tasks = traceEvents.filter(({ name, pid, tid, tdur }) => /RunTask$/.test(name) && tdur && pages.has(`${pid} ${tid}`));
  assert.ok(tasks.length > 50, 'the trace has no tasks');
  return Math.max(...tasks.map(({ tdur }) => tdur)) / 1000;
}

describe('ten thousand tokens', () => {
  for (const [shape, word] of Object.entries(SHAPES)) {
    it(`never hold up the page, as ${shape}`, async (run) => {
      const person = await openPerson(browser, server, { token: ada, worker: false });
      const { page } = person;
      await askForAll(page);
      await person.go('/chat');
      await page.getByLabel(t('chat.ask')).fill('Go on and on');
      await page.keyboard.press('Enter');
      const line = await model.line();
      line.say('begin ');
      await page.waitForURL(/#\/chat\/[0-9a-f-]{36}/);
      await says(page, 'begin');
      line.say('\n\n');
      await browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline', 'disabled-by-default-devtools.timeline'] });
      for (let at = 0; at < 10_000; at += 50) {
        line.say(...said(word, at, at + 50));
        await new Promise((done) => setTimeout(done, 20));
      }
      line.say('\n\nthe end');
      await says(page, 'the end');
      const longest = longestTask(await browser.stopTracing());
      run.diagnostic(`the longest task took ${longest} ms`);
      assert.ok(longest <= MOST, `${shape}: ${longest} ms`);
      line.finish();
      await person.close();
    });
  }
});
