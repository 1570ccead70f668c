// A browser, a server on its own database, and people in it. Every page watches for policy violations and errors.
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
export const PASSWORD = 'correct horse battery';

export const openBrowser = () => chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: FLAGS });

const servers = new Set();

/** Ends what a failed test left running. */
export const closeServers = () => Promise.all([...servers].map((server) => server.close()));

export async function openServer(environment = {}) {
  const python = process.env.PYTHON ?? at('../../.venv/bin/python');
  const server = spawn(python, [at('serve.py')], { env: { ...process.env, ...environment }, stdio: ['pipe', 'pipe', process.env.SERVER_LOG ? 'inherit' : 'ignore'] });
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  const { value: address, done } = await lines.next();
  if (done) throw new Error('the server did not start; run with SERVER_LOG=1 to see why');
  const opened = {
    address,
    async say(word) {
      server.stdin.write(`${word}\n`);
      await lines.next();
    },
    close: () => new Promise((resolve) => {
      servers.delete(opened);
      server.once('exit', resolve);
      server.stdin.end();
    }),
  };
  servers.add(opened);
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

/** A fresh browser profile. */
export async function openPerson(browser, server, { locale = 'en', mode = 'light', width = 1280, height = 800, token, wrap = false } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, locale, colorScheme: mode, acceptDownloads: true, permissions: ['clipboard-read', 'clipboard-write'] });
  const page = await context.newPage();
  await page.addInitScript(PROBE);
  if (token) await page.addInitScript(([kept, look]) => { if (location.protocol !== 'http:' || window !== top) return; localStorage.setItem('atrium.session', kept); if (look) localStorage.setItem('atrium.mode', look); }, [token, mode]);
  page.on('pageerror', (error) => wrongs.push(`page error: ${error.message}`));
  page.on('console', (message) => {
    const text = message.text();
    if (/Content.Security.Policy|TrustedScript|Refused to/i.test(text)) wrongs.push(`policy: ${text.slice(0, 200)}`);
  });
  if (wrap) await page.route('**/api/i18n/catalog**', wrapCatalog);
  const person = { page, context, address: server.address, go: (path) => go(page, server.address, path), settled: () => settled(page) };
  person.close = async () => {
    for (const open of context.pages()) wrongs.push(...(await open.evaluate(() => [...(window.__violations ?? []), ...(window.__errors ?? [])]).catch(() => [])));
    await context.close();
  };
  return person;
}

/** The pseudo-locale: every message between brackets, so that text from elsewhere stands out. */
async function wrapCatalog(route) {
  const answer = await route.fetch();
  const catalog = await answer.json();
  catalog.messages = Object.fromEntries(Object.entries(catalog.messages).map(([key, text]) => [key, `⟦${text}⟧`]));
  await route.fulfill({ response: answer, json: catalog });
}

async function go(page, address, path) {
  await page.goto(`${address}/#${path}`);
  await settled(page);
}

/** Nothing loads, nothing shimmers. */
export const settled = (page) =>
  page.waitForFunction(() => document.querySelector('h1') && !document.querySelector('.skeleton, [aria-busy=true], [role=status][aria-label]'), null, { timeout: 15_000 });

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
