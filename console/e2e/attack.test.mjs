// What other people stored or named, opened by somebody who is signed in: it reads no credential and does nothing in their name.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openCollector, openGlass } from './eavesdrop.mjs';
import { embedding, forging, LIVELY, nasty, sign, storeAll } from './hostile.mjs';
import { CREDENTIAL, everythingKept, tryToGive, tryToStay } from './thief.mjs';
import { call, closeAll, found, join, openBrowser, openPerson, openServer, PASSWORD, put, until } from './world.mjs';
import { wordsOf } from './words.mjs';

const t = wordsOf('en');
let browser, server, glass, collector, ada, mallory, links, marks = 0;
before(async () => {
  browser = await openBrowser();
  server = await openServer();
  collector = await openCollector();
  glass = await openGlass(server);
  ada = await found(server);
  mallory = await foundAttacker();
  links = await storeAll(mallory);
});
after(async () => {
  collector?.close();
  glass?.close();
  await closeAll();
});

/** The owner of another company, who holds everything that somebody there can hold. */
async function foundAttacker() {
  await call(server, '/api/orgs', { token: ada, body: { name: 'Mallory & Sons', owner: { username: 'mallory', password: PASSWORD } } });
  const { token } = await call(server, '/api/login', { body: { username: 'mallory', password: PASSWORD } });
  const key = await call(server, '/api/s3/credentials', { token, body: { name: 'links' } });
  return { token, key, address: glass.address, collector: collector.address, instead: glass.instead };
}

/** Signed in with the console's own form, as people do. */
async function signedIn(username) {
  const person = await openPerson(browser, glass);
  await person.page.goto(`${glass.address}/login`);
  await person.page.getByLabel(t('signin.username')).fill(username);
  await person.page.getByLabel(t('signin.password'), { exact: true }).fill(PASSWORD);
  await person.page.keyboard.press('Enter');
  await person.page.getByRole('button', { name: t('app.account_menu') }).waitFor();
  await person.page.evaluate(() => navigator.serviceWorker.ready);
  await person.settled();
  return person;
}

/** Signed in, and not at the console. */
async function holding(token) {
  const person = await openPerson(browser, glass, { token });
  await leave(person);
  return person;
}

/** Leaves the console, still signed in: whatever is asked from here on is somebody else's doing. */
async function leave({ page }) {
  await page.goto('about:blank');
  glass.forget();
  collector.forget();
}

/** Shown or saved; a document that leads elsewhere at once was shown as well. */
const endOf = (navigation) => navigation.then(() => 'shown', (error) => {
  if (/Download is starting|ERR_ABORTED/.test(error.message)) return 'saved';
  if (/interrupted by another navigation/.test(error.message)) return 'shown';
  throw error;
});

/** Waits as long as a theft takes: in the same browser the attacker's own script is loaded and tells their server that it ran. */
async function timeToSteal(page) {
  const mark = `mark-${++marks}`;
  const { elsewhere } = collector.page(mark, `<!doctype html><title>Offers</title><script type="module">await fetch('/page/${mark}-tell');document.title='told'</script>`);
  await page.goto(elsewhere);
  await page.waitForFunction(() => document.title === 'told');
}

/** A few at a time, each for as long as `stay` says and a theft takes. */
async function visitAll({ context }, names, stay) {
  const ends = {}, waiting = [...names];
  const reader = async () => {
    const [page, beside] = [await context.newPage(), await context.newPage()];
    for (let name = waiting.shift(); name; name = waiting.shift()) {
      ends[name] = await endOf(page.goto(links[name]));
      await stay?.(name);
      await timeToSteal(beside);
    }
    await Promise.all([page.close(), beside.close()]);
  };
  await Promise.all([reader(), reader(), reader(), reader()]);
  return ends;
}

/** What somebody has, as the server knows it. */
async function belongings(token) {
  const lists = await Promise.all(['notes', 'tokens', 's3/credentials', 'members', 'sessions', 'audit'].map((name) => call(server, `/api/${name}`, { token })));
  return lists.map(({ items }) => items.map(({ id }) => id));
}

const isOwnStep = ({ method, mode, site, url }) => method === 'GET' && mode === 'navigate' && site === 'none' && Object.values(links).some((link) => new URL(link).href === glass.address + url);
/** The browser itself looks for a page's icon, and for a newer worker of the console. */
const isErrand = ({ url, dest }) => url === '/favicon.ico' || (url === '/sw.js' && dest === 'serviceworker');
const brought = (...methods) => glass.asked.filter((one) => one.cookie && !isErrand(one) && (methods.length === 0 || methods.includes(one.method)));
const words = () => collector.heard.map((one) => one.words).join('\n');
const count = (list, of) => Object.values(list).filter((one) => one === of).length;

describe('documents of another company, opened by an operator who is signed in', () => {
  it('run nothing, read no credential and ask for nothing', async (run) => {
    const person = await signedIn('ada');
    await leave(person);
    const had = await belongings(ada);

    const ends = await visitAll(person, Object.keys(links));

    assert.deepEqual(collector.names(), []);
    assert.deepEqual(brought().filter((one) => !isOwnStep(one)), []);
    assert.deepEqual(await belongings(ada), had);
    assert.ok(brought().length > 40, 'the session was there to be used');
    run.diagnostic(`${Object.keys(links).length} documents opened, ${count(ends, 'shown')} shown and ${count(ends, 'saved')} saved: 0 ran, 0 credentials, 0 requests`);
    await person.context.close();
  });

  it('would be noticed: without the walls they run, act and are heard, and even then take no credential along', async (run) => {
    const person = await holding(ada);
    const had = await belongings(ada);
    glass.walls = false;

    await visitAll(person, LIVELY, async (name) => {
      await until(`${name} is heard`, () => collector.heard.some((one) => one.name === name));
      // One of them for as long as its whole theft takes.
      if (name === 'cors-document') await until('its theft is told', () => words().includes('"/api/members!"'));
    }).finally(() => { glass.walls = true; });

    assert.deepEqual(LIVELY.filter((name) => !collector.names().includes(name)), []);
    assert.ok(brought().some((one) => one.url === '/api/whoami' && one.status === 200));
    assert.ok(brought('POST').some((one) => one.url === '/api/notes' && one.status === 201));
    assert.ok(words().includes(String.raw`\"username\":\"ada\"`), 'who they are was read and told');
    assert.ok(!CREDENTIAL.test(words()));
    const has = await belongings(ada);
    assert.ok(has[0].length > had[0].length, 'notes were written in their name');
    assert.deepEqual(has.slice(1, 4), had.slice(1, 4), 'and nothing that opens anything');
    run.diagnostic(`${LIVELY.length} documents ran without the walls; ${brought().length} requests with the session noticed, ${has[0].length - had[0].length} notes written; 0 credentials`);
    await person.context.close();
  });

  it('would be noticed: a token in the page\'s storage, as it once was, is heard', async () => {
    const person = await holding(ada);
    await person.page.addInitScript((token) => localStorage.setItem('atrium.session', token), ada);
    glass.walls = false;

    await person.page.goto(links['cors-document']);
    await until('the storage is told', () => words().includes('"local"'));
    glass.walls = true;

    assert.ok(CREDENTIAL.test(words()));
    await person.context.close();
  });
});

describe('pages of the attacker\'s own, opened by an operator who is signed in', () => {
  it('show and read nothing of ours and do nothing here, from another site and from another port of this host', async (run) => {
    const person = await holding(ada);
    const had = await belongings(ada);
    const pages = [collector.page('embed', embedding(links, collector.address)), collector.page('forge', forging(glass.address, collector.address))];
    const hosts = ['localhost', '127.0.0.1'];
    const expected = hosts.flatMap((host) => [`embed-report-${host}`, `forge-report-${host}`]).sort();

    await Promise.all(pages.flatMap(({ elsewhere, nearby }) => [elsewhere, nearby]).map(async (address) => (await person.context.newPage()).goto(address)));
    await until('every page reports', () => expected.every((name) => collector.names().includes(name)));
    // A frame's request may still be under way when the page has told what it saw.
    await until('every request is answered', () => brought().every((one) => one.status));

    assert.deepEqual(collector.names(), expected);
    const reports = collector.heard.map((one) => JSON.parse(one.words.split('\n').at(-1)));
    assert.deepEqual(reports.flatMap((report) => report.read), []);
    assert.deepEqual(brought().filter((one) => /^\/(api|s3)/.test(one.url) && one.status < 400), []);
    assert.ok(brought('POST').length > 20, 'another port of the host is the same site, so that the session came along and was refused');
    assert.deepEqual(await belongings(ada), had);
    assert.equal((await person.context.cookies(glass.address)).length, 1);
    run.diagnostic(`${reports.reduce((sum, report) => sum + report.tries, 0)} tries, ${brought().length} requests with the session, ${brought('POST').length} of them to write: 0 read, 0 done, 0 credentials`);
    await person.context.close();
  });
});

describe('a colleague of the attacker', () => {
  it('finds their markup shown as text in the console, and their files saved or shown without a script', async (run) => {
    const { token } = await join(server, mallory.token, 'vera', 'Vera Holm', 'owner');
    const text = nasty(collector.address, 'text', links.html);
    const title = text.slice(0, 60);
    await call(server, '/api/org/branding', { token: mallory.token, method: 'PUT', body: { title, tagline: title } });
    await assert.rejects(call(server, '/api/org/branding/logo', { token: mallory.token, body: { data: `data:image/svg+xml;base64,${Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="1"/>').toString('base64')}` } }), /branding.bad_logo/);
    const note = await call(server, '/api/notes', { token: mallory.token, body: { title, body: text, visibility: 'team' } });
    const document = await call(server, '/api/documents', { token: mallory.token, body: { title, body: text, visibility: 'team' } });
    const files = [];
    for (const [name, type] of [['a.html', 'text/html'], ['a.svg', 'image/svg+xml'], ['a.pdf', 'application/pdf'], ['a.xhtml', 'application/xhtml+xml'], ['<img src=x onerror=alert(1)>.txt', 'text/plain'], ['a.md', 'text/markdown'], ['a.js', 'text/javascript']]) files.push(await put(server, mallory.token, name, text, type, '?visibility=team'));
    const person = await signedIn('vera');
    glass.forget();
    collector.forget();
    const had = await belongings(token);

    const screens = ['/', `/notes/${note.id}`, `/documents/${document.id}`, '/files', ...files.map((file) => `/files/${file.id}`)];
    for (const screen of screens) {
      await person.go(screen);
      const preview = person.page.getByRole('button', { name: t('notes.preview'), exact: true });
      if (await preview.count()) await preview.click();
    }
    const addresses = [`/api/notes/${note.id}`, `/api/documents/${document.id}`, '/api/branding', '/api/repo', ...files.map((file) => `/api/repo-obj/${file.id}/content`)];
    const page = await person.context.newPage();
    for (const address of addresses) await endOf(page.goto(glass.address + address));
    await person.go(`/notes/${note.id}`);
    await person.page.getByRole('button', { name: t('notes.preview'), exact: true }).click();
    const link = person.page.getByRole('link', { name: 'invoice' });
    const [opened] = await Promise.all([person.context.waitForEvent('page'), link.click()]);
    await opened.waitForLoadState();
    await timeToSteal(page);

    assert.deepEqual(collector.names(), []);
    assert.deepEqual(brought('POST', 'PUT', 'PATCH', 'DELETE'), []);
    assert.deepEqual(await belongings(token), had);
    assert.match(await link.getAttribute('rel'), /noopener/);
    run.diagnostic(`${screens.length} screens and ${addresses.length + 1} addresses of one company: 0 ran, 0 requests`);
    await person.close();
  });
});

describe('a script that runs in the console itself', () => {
  it('neither reads a credential nor makes one, nor stays', async (run) => {
    const person = await signedIn('ada');
    const worker = sign(mallory, 'GET', '/files/beside/html-service-worker.js');

    const tries = await person.page.evaluate(tryToGive);
    const kept = await person.page.evaluate(everythingKept);

    assert.ok(!CREDENTIAL.test(kept));
    assert.deepEqual(tries.filter(([, , status, code]) => status !== 403 || code !== 'identity.confirm_required'), []);
    const page = await person.context.newPage();
    await page.goto(glass.address);
    assert.deepEqual(await page.evaluate(tryToStay, worker), ['TypeError', 'TypeError']);
    run.diagnostic(`${tries.length} tries to be given a credential or power: 0 given; ${kept.length} characters looked through: 0 found`);
    await person.context.close();
  });
});
