// Pages that plugins bring: mounted with the person's session, handed no credential, and unable to take the console with them.
import assert from 'node:assert/strict';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as pathOf } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { examineBoth } from './axe.mjs';
import { wordsOf } from './words.mjs';
import { call, closeAll, found, join, openBrowser, openPerson, openServer, wrongs } from './world.mjs';

const t = wordsOf('en');
const folder = mkdtempSync(pathOf(tmpdir(), 'plugins-'));

// What a document of a plugin would take if it were the console's: each by itself, for one refusal must not hide the others.
const STEAL = `const tried = (work) => { try { return String(work()); } catch (error) { return error.name; } };
  const asked = (path, init) => fetch(path, { credentials: 'include', ...init }).then((reply) => reply.type, (error) => error.name);
  (async () => {
    const seen = { origin: self.origin, local: tried(() => localStorage.length), session: tried(() => sessionStorage.length), cookie: tried(() => document.cookie),
      workers: tried(() => navigator.serviceWorker.controller), who: await asked('/api/whoami'), bundle: await asked('main.js'),
      blind: await asked('/api/notes', { method: 'POST', mode: 'no-cors', body: '{"title": "stolen"}' }) };
    window.seen = seen;
  })();`;

function plugin(id, files) {
  const at = pathOf(folder, id);
  mkdirSync(pathOf(at, 'bundle'), { recursive: true });
  writeFileSync(pathOf(at, 'plugin.toml'), `id = "${id}"\nname = "${id}"\nversion = "0.1.0"\ndescription = "For a test."\nentry = "plugin.py"\n`);
  writeFileSync(pathOf(at, 'plugin.py'), 'from atrium.sdk import Plugin\n\nPLUGIN = Plugin()\n');
  for (const [name, text] of Object.entries(files)) writeFileSync(pathOf(at, 'bundle', name), text);
}

plugin('throws', { 'main.js': "export function mount() { throw new Error('no luck today'); }" });
plugin('throws-late', { 'main.js': "export async function mount(el) { el.textContent = 'half drawn'; await null; throw new Error('too late'); }" });
plugin('no-mount', { 'main.js': 'export const other = 1;' });
plugin('broken-syntax', { 'main.js': 'export function mount( {' });
plugin('nosy', {
  'main.js': `export async function mount(el, ctx) {
    const seen = { keys: Object.keys(ctx).sort(), cookie: document.cookie, stored: JSON.stringify({ ...localStorage, ...sessionStorage }) };
    try { el.innerHTML = '<img src=x onerror="window.ran = true">'; seen.html = 'taken'; } catch { seen.html = 'refused'; }
    try { (0, eval)('window.ran = true'); seen.eval = 'taken'; } catch { seen.eval = 'refused'; }
    seen.who = (await ctx.api('/api/whoami')).user.username;
    seen.refused = await ctx.api('/api/notes/none').catch((refusal) => refusal.status);
    seen.outside = await ctx.api('https://example.invalid/').catch((error) => error.name);
    el.append(Object.assign(document.createElement('pre'), { textContent: JSON.stringify(seen) }));
    const leave = Object.assign(document.createElement('button'), { textContent: 'leave' });
    leave.addEventListener('click', () => ctx.navigate('/notes'));
    el.append(leave);
    return () => { window.leftNosy = true; };
  }`,
  'steal.html': `<!doctype html><title>nosy</title><script>${STEAL}</script>`,
  'steal.svg': `<svg xmlns="http://www.w3.org/2000/svg"><script><![CDATA[${STEAL}]]></script></svg>`,
  'steal.xml': `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>nosy</title><script><![CDATA[${STEAL}]]></script></head></html>`,
});

let browser, server, ada;
before(async () => {
  [browser, server] = await Promise.all([openBrowser(), openServer({ SERVICE_PLUGINS_DIR: folder })]);
  ada = await found(server);
});
after(async () => {
  await closeAll();
  rmSync(folder, { recursive: true });
});

const person = (options) => openPerson(browser, server, { token: ada, ...options });
const inside = (page) => page.getByTestId('plugin-page');

describe('a page of a plugin', () => {
  it('is found in the sidebar and counts words', async () => {
    const { page, go, close } = await person();
    await go('/');
    await page.getByRole('link', { name: 'Word counter' }).click();
    await inside(page).getByLabel('Text').fill('to be or not to be');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await inside(page).getByText('6 words, 18 characters, 1 lines').waitFor();
    await close();
  });

  it('is found in the palette, and speaks the reader’s language', async () => {
    const { token } = await join(server, ada, 'jeroen', 'Jeroen de Wit', 'viewer');
    await call(server, '/api/profile', { token, body: { locale: 'nl' } });
    const { page, go, close } = await person({ locale: 'nl', token });
    await go('/');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('woordent');
    await page.getByRole('option', { name: 'Woordenteller' }).waitFor();
    await page.keyboard.press('Enter');
    await inside(page).getByRole('button', { name: 'Tellen' }).waitFor();
    await close();
  });

  it('passes axe in both modes', async () => {
    const { page, go, close } = await person();
    await go('/plugins/example-tools');
    await inside(page).getByLabel('Text').waitFor();
    await examineBoth(page, 'plugin-page');
    await close();
  });

  it('gets calls, language, theme and navigation, and no credential', async () => {
    const { page, go, close } = await person();
    await go('/plugins/nosy');
    const seen = JSON.parse(await inside(page).locator('pre').innerText());
    assert.deepEqual(seen.keys, ['api', 'locale', 'navigate', 'plugin', 'theme']);
    assert.equal(seen.who, 'ada');
    assert.equal(seen.cookie, '');
    assert.ok(!seen.stored.includes(ada), 'the session is in no storage');
    assert.deepEqual([seen.html, seen.eval], ['refused', 'refused']);
    assert.ok([400, 404, 422].includes(seen.refused), `refusals carry their status: ${seen.refused}`);
    assert.equal(seen.outside, 'TypeError');
    await inside(page).getByRole('button', { name: 'leave' }).click();
    await page.waitForURL(/#\/notes/);
    await page.waitForFunction(() => window.leftNosy);
    assert.equal(await page.evaluate(() => window.ran), undefined);
    await close();
    wrongs.length = 0;
  });

  it('that fails says why, can be tried again, and leaves the console standing', async () => {
    const { page, go, close } = await person();
    for (const [id, why] of [['throws', 'no luck today'], ['throws-late', 'too late'], ['no-mount', 'exports no function'], ['broken-syntax', '']]) {
      await go(`/plugins/${id}`);
      const alert = page.getByRole('main').getByRole('alert');
      await alert.getByText(t('plugins.page_failed')).waitFor();
      assert.ok((await alert.innerText()).includes(why), id);
      assert.equal(await inside(page).innerText(), '');
    }
    await page.getByRole('main').getByRole('button', { name: t('ui.retry') }).click();
    await page.getByText(t('plugins.page_failed')).waitFor();
    await page.getByRole('link', { name: t('nav.notes') }).first().click();
    await page.waitForURL(/#\/notes/);
    await close();
    wrongs.length = 0;
  });

  it('that is opened as a document reads nothing of the console, and does nothing as the person', async () => {
    for (const name of ['steal.html', 'steal.svg', 'steal.xml']) {
      const { page, go, close } = await person();
      await go('/');
      await page.goto(`${server.address}/api/x/nosy/bundle/${name}`);
      const seen = await (await page.waitForFunction(() => window.seen)).jsonValue();
      assert.deepEqual(seen, { origin: 'null', local: 'SecurityError', session: 'SecurityError', cookie: 'SecurityError', workers: 'SecurityError', who: 'TypeError', bundle: 'TypeError', blind: 'TypeError' }, name);
      await close();
    }
    assert.deepEqual((await call(server, '/api/notes?q=stolen', { token: ada })).items, []);
    wrongs.length = 0;
  });
});
