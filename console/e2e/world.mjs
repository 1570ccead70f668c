// A browser, a server on its own database, and people in it. Every page watches for policy violations and errors.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { MARKS } from './where.mjs';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
export const PASSWORD = 'correct horse battery';

/** Milliseconds of a wait that must never elapse; a slow machine may be given more by ATRIUM_PATIENCE, in seconds. */
export const PATIENCE = Number(process.env.ATRIUM_PATIENCE ?? 60) * 1000;

/** Patience ran out; called by the name that Playwright gives it. */
class TimeoutError extends Error {
  name = 'TimeoutError';
}

/** What comes of it, as long as patience lasts; for what Playwright itself waits for without end. */
function bounded(what, coming) {
  let giveUp;
  const late = new Promise((_, refuse) => { giveUp = setTimeout(() => refuse(new TimeoutError(`${what}: not within ${PATIENCE} ms`)), PATIENCE); });
  return Promise.race([coming, late]).finally(() => clearTimeout(giveUp));
}

/** Nothing in this profile gives up earlier, and nothing later. */
export function patient(context) {
  context.setDefaultTimeout(PATIENCE);
  context.setDefaultNavigationTimeout(PATIENCE);
  context.on('page', (page) => {
    const evaluate = page.evaluate.bind(page);
    page.evaluate = (...asked) => bounded('the page answers', evaluate(...asked));
  });
  return context;
}

/** What `found` answers as soon as it is something; asked again and again, as long as patience lasts. */
export async function until(what, found, pause = 50) {
  for (let waited = 0; waited < PATIENCE; waited += pause) {
    const answer = await found();
    if (answer) return answer;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
  throw new TimeoutError(`${what}: not within ${PATIENCE} ms`);
}

/** Without a window it needs half the processor time; the one with a window is as good. */
const BROWSER = process.env.CHROMIUM ?? ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find(existsSync);
const browsers = new Set();
const servers = new Set();

export async function openBrowser(flags = []) {
  const browser = await chromium.launch({ executablePath: BROWSER, args: [...FLAGS, ...flags], timeout: PATIENCE });
  browsers.add(browser);
  return browser;
}

/** The end of a suite: closes what it opened, also where it failed half-way, and looks at what the pages complained about. */
export async function closeAll() {
  await Promise.all([...browsers].map((browser) => bounded('the browser closes', browser.close())));
  await Promise.all([...servers].map((server) => server.close()));
  assert.deepEqual(wrongs, []);
}

export async function openServer(environment = {}) {
  const python = process.env.PYTHON ?? at('../../.venv/bin/python');
  const server = spawn(python, [at('serve.py')], { env: { ...process.env, ...environment }, stdio: ['pipe', 'pipe', process.env.SERVER_LOG ? 'inherit' : 'ignore'] });
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  const opened = {
    /** Ask for what no route does; the answer is a line. */
    async say(words) {
      server.stdin.write(`${words}\n`);
      return (await lines.next()).value;
    },
    close: () => new Promise((resolve) => {
      servers.delete(opened);
      if (server.exitCode !== null || server.signalCode !== null) return resolve();
      server.once('exit', resolve);
      server.stdin.end();
    }),
  };
  servers.add(opened);
  const { value: address, done } = await lines.next();
  if (done) throw new Error('the server did not start; run with SERVER_LOG=1 to see why');
  return Object.assign(opened, { address });
}

/** A line to the server that can be cut and mended; nobody behind it knows the difference from a lost network. */
export async function openLine(server) {
  const to = new URL(server.address);
  const open = new Set();
  let cut = false;
  const line = createServer((near) => {
    if (cut) {
      opened.refused++;
      return near.destroy();
    }
    const far = connect(Number(to.port), to.hostname);
    for (const [one, other] of [[near, far], [far, near]]) {
      open.add(one);
      one.on('error', () => other.destroy()).on('close', () => { open.delete(one); other.destroy(); }).pipe(other);
    }
  });
  await new Promise((resolve) => line.listen(0, '127.0.0.1', resolve));
  const opened = {
    address: `http://127.0.0.1:${line.address().port}`,
    say: server.say,
    /** How often somebody came while it was cut. */
    refused: 0,
    cut() { cut = true; for (const one of open) one.destroy(); },
    mend() { cut = false; },
    close() { opened.cut(); line.close(); },
  };
  return opened;
}

const PROBE = `
  window.__violations = []; window.__errors = [];
  document.addEventListener('securitypolicyviolation', (e) => __violations.push(e.effectiveDirective + ' ' + e.blockedURI + ' ' + (e.sample || '')));
  addEventListener('error', (e) => __errors.push(e.message));
  addEventListener('unhandledrejection', (e) => __errors.push('unhandled: ' + (e.reason?.message ?? e.reason)));
`;

/** Everything that went wrong on any page of the run; must stay empty. */
export const wrongs = [];

/** A browser's own session of whoever holds this token, as signing in would leave it. */
async function signIn(context, { address, say }, token) {
  const { port } = new URL(address);
  await context.addCookies([{ name: `atrium_session_${port}`, value: await say(`cookie ${token}`), url: address, httpOnly: true, sameSite: 'Strict' }]);
}

/** The password that whatever gives a credential or power asks for. */
export const confirm = (page) => page.locator('input[name=own_password]').fill(PASSWORD);

/** What the server answers to the page itself, with the session that the browser has. */
export const ask = (page, path) => page.evaluate(async (asked) => (await fetch(asked)).json(), path);

/** A fresh browser profile. */
export async function openPerson(browser, server, { locale = 'en', mode = 'light', width = 1280, height = 800, token, wrap = false, worker = true, deaf = false } = {}) {
  const context = patient(await browser.newContext({ viewport: { width, height }, locale, colorScheme: mode, acceptDownloads: true, serviceWorkers: worker ? 'allow' : 'block', permissions: ['clipboard-read', 'clipboard-write'] }));
  const page = await context.newPage();
  await page.addInitScript(PROBE);
  if (token) {
    await signIn(context, server, token);
    await page.addInitScript((look) => { if (location.protocol !== 'http:' || window !== top) return; localStorage.setItem('atrium.signed_in', '1'); if (look) localStorage.setItem('atrium.mode', look); }, mode);
  }
  page.on('pageerror', (error) => wrongs.push(`page error: ${error.message}`));
  page.on('console', (message) => {
    const text = message.text();
    if (/Content.Security.Policy|TrustedScript|Refused to/i.test(text)) wrongs.push(`policy: ${text.slice(0, 200)}`);
  });
  if (wrap) await page.addInitScript(wrapCatalogs, MARKS);
  // Without the lock that tabs share, nothing is heard of what others change.
  if (deaf) await page.addInitScript(() => { delete Navigator.prototype.locks; });
  const person = { page, context, address: server.address, go: (path) => go(page, server.address, path), settled: () => settled(page) };
  person.close = async () => {
    for (const open of context.pages()) wrongs.push(...(await open.evaluate(() => [...(window.__violations ?? []), ...(window.__errors ?? [])]).catch(() => [])));
    await bounded('the profile closes', context.close());
  };
  return person;
}

/**
 * The pseudo-locale, in the page before anything of it runs: every message between brackets, so that text from elsewhere stands out.
 * A route would do the same and switch the browser's cache off.
 */
function wrapCatalogs(marks) {
  const real = window.fetch;
  window.fetch = async (...asked) => {
    const answer = await real(...asked);
    // A refusal is the page's to deal with; what it then lacks is found on the screen.
    if (!String(asked[0]?.url ?? asked[0]).includes('/api/i18n/catalog') || !answer.ok) return answer;
    const catalog = await answer.json();
    catalog.messages = Object.fromEntries(Object.entries(catalog.messages).map(([key, text]) => [key, `⟦${marks[key] ?? ''}${text}⟧`]));
    return new Response(JSON.stringify(catalog), { status: answer.status, headers: answer.headers });
  };
}

async function go(page, address, path) {
  await page.goto(`${address}/#${path}`);
  await settled(page);
}

/** Goes to a place by the palette: typed, and taken once it is what Enter takes. */
export async function takeFromPalette(page, label) {
  await page.keyboard.press('Control+k');
  await page.keyboard.type(label);
  await page.getByRole('option', { name: label, selected: true }).waitFor();
  await page.keyboard.press('Enter');
}

/** Nothing loads, nothing shimmers. */
export const settled = (page) =>
  page.waitForFunction(() => document.querySelector('#root h1') && !document.querySelector('.skeleton, [aria-busy=true], [role=status][aria-label]'), null, { timeout: PATIENCE });

export async function call(server, path, { token, method, body, headers } = {}) {
  const answer = await fetch(server.address + path, {
    method: method ?? (body ? 'POST' : 'GET'),
    headers: { ...(token ? { authorization: `Bearer ${token}` } : {}), ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
    body: body && JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** A file, put there without the browser. */
export async function put(server, token, key, body, type = 'text/plain', query = '') {
  const answer = await fetch(`${server.address}/api/repo/${key.split('/').map(encodeURIComponent).join('/')}${query}`, { method: 'PUT', headers: { authorization: `Bearer ${token}`, 'content-type': type }, body });
  if (!answer.ok) throw new Error(`${key}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** The operator of a fresh instance, made without the browser. */
export async function found(server, { username = 'ada', name = 'Ada Lovelace', org = 'Northwind Freight', team = 'Operations' } = {}) {
  const { token } = await call(server, '/api/bootstrap', { body: { username, password: PASSWORD, org, team } });
  await call(server, '/api/profile', { token, body: { display_name: name } });
  return token;
}

/** A member with a password, and their session. */
export async function join(server, operator, username, name, role = 'member') {
  const added = await call(server, '/api/members', { token: operator, body: { username, role, display_name: name } });
  const changed = await call(server, '/api/password', { token: added.token, body: { new_password: PASSWORD } });
  return { token: changed.token, id: added.member.id };
}

/** RFC 6238, as an authenticator app does it. */
export function totp(secret, now = Date.now()) {
  const bits = [...secret.replace(/=+$/, '')].map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(now / 30_000)));
  const digest = createHmac('sha1', key).update(counter).digest();
  const offset = digest[19] & 15;
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}
