// How screens are laid out: on a phone, in the dark, while they load, from right to left, on an instance that is new.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { examine, still } from './axe.mjs';
import { furnished, inspect, misfits, tokenFor, visit } from './stage.mjs';
import { call, found, join, openPerson, openServer, put } from './world.mjs';
import { wordsOf } from './words.mjs';

const t = wordsOf('en');
const stage = furnished(async (server) => {
  const ada = await found(server);
  for (const [username, name] of [['jeroen', 'Jeroen de Wit'], ['sigrun', 'Sigrún Jónsdóttir']]) await join(server, ada, username, name);
  const write = (title, body) => call(server, '/api/notes', { token: ada, body: { title, body, visibility: 'team' } });
  await write('Fog protocol', '1. Tug first.\n2. Then the pilot.\n3. Then breakfast.');
  const { id: note } = await write('Rotterdam handover', '# Berth 7\n\nThe *Hafrún* arrives **Tuesday**.\n\n- [ ] Book the pilot\n\n| Container | For |\n| --- | --- |\n| HAFU 220814 | Reykjavík |');
  return { ada, note };
});

const onPhones = ({ note }) => [
  { name: 'home', path: '/' },
  { name: 'notes', path: '/notes' },
  { name: 'note-write', path: `/notes/${note}`, act: (page) => page.locator('.cm-content').waitFor() },
  { name: 'members', path: '/settings/members' },
  { name: 'token-new', path: '/settings/tokens/new', act: (page) => page.getByText(t('tokens.scope_some'), { exact: true }).click() },
];

describe('axe finds nothing, and the layout holds', () => {
  it('on an instance nobody has set up', async () => {
    const empty = await openServer();
    const person = await openPerson(stage.browser, empty);
    await inspect(person, { name: 'first run', path: '/' });
    await person.close();
  });

  it('at 360 px', async (run) => {
    const person = await openPerson(stage.browser, stage.server, { token: stage.team.ada, width: 360, height: 740 });
    for (const screen of onPhones(stage.team)) {
      await run.test(screen.name, async () => {
        await visit(person, screen);
        await examine(person.page, `${screen.name} 360 px`);
      });
    }
    await person.go('/');
    await person.page.getByRole('button', { name: t('nav.more') }).click();
    await person.page.getByRole('dialog').getByRole('link', { name: t('nav.notes') }).waitFor();
    // Addresses begin with a hash here, so axe takes a link of the menu that is scrolled out of sight for one that skips to a place on the page.
    await examine(person.page, 'drawer', { 'skip-link': { enabled: false } });
    await person.page.setViewportSize({ width: 360, height: 1100 });
    await examine(person.page, 'the whole drawer');
    await person.close();
  });

  it('in dark mode from the first frame', async () => {
    const person = await openPerson(stage.browser, stage.server, { mode: 'dark' });
    await person.go('/sign-in');
    assert.equal(await person.page.evaluate(() => document.documentElement.dataset.mode), 'dark');
    await person.close();
  });

  it('on skeletons while the server is slow', async () => {
    const person = await openPerson(stage.browser, stage.server, { token: stage.team.ada });
    // Nothing is answered as long as the page is open.
    await person.page.route(/\/api\/(notes|members|audit|admin|repo|documents|trash|usage|org|jobs|executors)/, () => undefined);
    for (const path of ['/notes', '/settings/members', '/settings/audit', '/settings/instance', '/files', '/shared', '/documents', '/trash', '/jobs', '/settings/executors', '/settings/usage', '/settings/company', '/settings/instance/companies', '/settings/company/branding']) {
      await person.page.goto('about:blank');
      await person.page.goto(`${stage.server.address}/#${path}`);
      await person.page.locator('.skeleton').first().waitFor();
      await examine(person.page, `${path} loading`);
    }
    await person.close();
  });
});

/** A title as long as people write them, in words, and as long as it may be, in one. */
const TITLES = ['Harbour dues for the second half of the year, agreed with Bilbao and Vigo', 'Abfahrtsverspätungsbegründung'.repeat(7).slice(0, 200)];

/** Something of every kind under every title, and the screens that show it. */
async function nameEverything({ server, team: { ada } }) {
  const send = (path, body, method) => call(server, path, { token: ada, body, method });
  const screens = [];
  for (const title of TITLES) {
    const note = await send('/api/notes', { title, body: title, visibility: 'private' });
    const document = await send('/api/documents', { title, body: title, visibility: 'team' });
    const file = await put(server, ada, `quay/${title}.txt`, title);
    const said = { title, tainted: false, messages: [{ role: 'user', content: title, at: '2026-01-05T08:00:00Z' }] };
    const chat = await put(server, ada, `chats/${title}.json`, JSON.stringify(said), 'application/vnd.atrium.chat+json');
    for (const path of [`/notes/${note.id}`, `/notes/${note.id}/history`, `/documents/${document.id}`, `/files/${file.id}`, `/chat/${chat.id}`]) screens.push(path);
    const dropped = await send('/api/notes', { title, body: '', visibility: 'team' });
    await call(server, `/api/notes/${dropped.id}`, { token: ada, method: 'DELETE' });
  }
  return ['/', '/notes', '/documents', '/files?prefix=quay%2F', '/shared', '/chat', '/trash', `/search?q=${encodeURIComponent('Harbour dues')}`, ...screens];
}

describe('the layout', () => {
  it('P5: is as wide as a phone, however long a title is', async (run) => {
    const screens = await nameEverything(stage);
    const person = await openPerson(stage.browser, stage.server, { token: stage.team.ada, width: 390, height: 844 });
    for (const path of screens) {
      await run.test(path.slice(0, 60), async () => {
        await visit(person, { path });
        assert.deepEqual(await misfits(person.page, [390, 320]), []);
      });
    }
    await person.close();
  });

  it('mirrors from right to left', async () => {
    const person = await openPerson(stage.browser, stage.server, { token: stage.team.ada });
    await person.go('/settings/members');
    await person.page.evaluate(() => { document.documentElement.dir = 'rtl'; });
    assert.ok((await person.page.locator('aside').first().boundingBox()).x > 900);
    assert.ok((await person.page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)) <= 0);
    await person.close();
  });

  it('does not jump while it loads', async () => {
    for (const path of ['/sign-in', '/', '/notes', '/settings/members']) {
      const person = await openPerson(stage.browser, stage.server, { token: tokenFor(stage, { outside: path === '/sign-in' }) });
      await person.page.addInitScript(() => {
        window.__shift = 0;
        new PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.__shift += entry.value; }).observe({ type: 'layout-shift', buffered: true });
      });
      await person.go(path);
      await still(person.page);
      const shift = await person.page.evaluate(() => window.__shift);
      assert.ok(shift < 0.1, `${path} shifts by ${shift.toFixed(3)}`);
      await person.close();
    }
  });
});
