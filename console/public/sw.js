// Keeps the console: every file of the build it came with, so that a page opens without waiting for its code, after an
// upgrade and without a connection too. Nothing below /api is ever kept.
const BUILD = { version: 'development', entry: '', files: [] };
const PREFIX = 'atrium-build-';
const CACHE = PREFIX + BUILD.version;
const PAGES = ['/', '/index.html', '/login', '/activate'];

addEventListener('install', (event) => event.waitUntil(keepBuild()));
addEventListener('activate', (event) => event.waitUntil(takeOver()));

async function keepBuild() {
  if (BUILD.files.length) {
    const cache = await caches.open(CACHE);
    await cache.addAll(BUILD.files);
    await keepPage(await fetch('/index.html', { cache: 'no-store' }));
  }
  await skipWaiting();
}

/** Tabs opened before an upgrade go on with the files of their build, so the one before this stays; older ones go. */
async function takeOver() {
  const others = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== CACHE);
  await Promise.all(others.slice(0, -1).map((name) => caches.delete(name)));
  await clients.claim();
}

/** The page belongs to a build: one that asks for other files is not kept with these. */
async function keepPage(answer) {
  const page = answer.clone();
  if (answer.ok && (await answer.text()).includes(BUILD.entry)) await (await caches.open(CACHE)).put('/', page);
}

addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (url.origin !== location.origin || request.method !== 'GET') return;
  if (request.mode === 'navigate' && PAGES.includes(url.pathname)) event.respondWith(page(event));
  else if (url.pathname.startsWith('/assets/')) event.respondWith(asset(request));
});

const asset = async (request) => (await caches.match(request, { ignoreVary: true })) ?? fetch(request);

/** The server's page carries today's facts; the kept one stands in when nobody answers. */
async function page(event) {
  const answer = await fetch(event.request).catch(() => null);
  if (answer && BUILD.files.length) event.waitUntil(keepPage(answer.clone()).catch(() => undefined));
  if (answer && answer.status < 500) return answer;
  return (await caches.match('/', { cacheName: CACHE })) ?? answer ?? Response.error();
}
