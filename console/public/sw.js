// What the browser itself loads has no bearer credential: a plugin's own files (GET /api/x/<plugin>/bundle/*), and a file's
// content shown in a frame or saved to disk (GET /api/repo-obj/<id>/content). The credential is asked from a page of the
// console and kept nowhere.
const BUNDLE = /^\/api\/x\/[^/]+\/bundle\//;
const CONTENT = /^\/api\/repo-obj\/[^/]+\/content$/;

addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('fetch', (event) => {
  const { request, clientId } = event;
  const url = new URL(request.url);
  if (url.origin !== location.origin || request.method !== 'GET' || request.headers.has('authorization')) return;
  if (BUNDLE.test(url.pathname)) event.respondWith(withCredential(url, request, clientId));
  else if (CONTENT.test(url.pathname)) event.respondWith(content(url, request, clientId));
});

async function withCredential(url, request, clientId) {
  const token = await credentialFrom(await pageFor(clientId));
  const range = request.headers.get('range');
  return fetch(url, { headers: { ...(token ? { authorization: `Bearer ${token}` } : {}), ...(range ? { range } : {}) }, cache: 'no-store' });
}

/** With `save` in its address a file is saved whatever its type; the server never sees the word. */
async function content(url, request, clientId) {
  const save = url.searchParams.has('save');
  url.searchParams.delete('save');
  const answer = await withCredential(url, request, clientId);
  if (!save || !answer.ok) return answer;
  const headers = new Headers(answer.headers);
  headers.set('content-disposition', (headers.get('content-disposition') ?? '').replace(/^inline/, 'attachment'));
  return new Response(answer.body, { status: answer.status, headers });
}

/** The page that asks; a frame or a download has none yet, and any page of the console may speak for it. */
async function pageFor(clientId) {
  const asking = clientId ? await clients.get(clientId) : undefined;
  if (asking && asking.frameType === 'top-level') return asking;
  const pages = await clients.matchAll({ type: 'window' });
  return pages.filter((page) => page.frameType === 'top-level').sort((one, other) => Number(other.focused) - Number(one.focused))[0];
}

function credentialFrom(page) {
  if (!page) return null;
  return new Promise((resolve) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = (event) => resolve(event.data);
    page.postMessage('atrium.credential', [channel.port2]);
    setTimeout(() => resolve(null), 2000);
  });
}
