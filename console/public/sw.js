// Lets a plugin's own page load its files: adds the bearer credential to GET /api/x/<plugin>/bundle/*.
// The credential is asked from the page that needs it and kept nowhere.
const BUNDLE = /^\/api\/x\/[^/]+\/bundle\//;

addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('fetch', (event) => {
  const url = new URL(event.request.url);
  if (url.origin !== location.origin || event.request.method !== 'GET' || !BUNDLE.test(url.pathname)) return;
  event.respondWith(withCredential(event.request, event.clientId));
});

async function withCredential(request, clientId) {
  const page = await clients.get(clientId);
  const token = page && (await ask(page));
  return fetch(request.url, { headers: token ? { authorization: `Bearer ${token}` } : {}, cache: 'no-store' });
}

function ask(page) {
  return new Promise((resolve) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = (event) => resolve(event.data);
    page.postMessage('atrium.credential', [channel.port2]);
    setTimeout(() => resolve(null), 2000);
  });
}
