// Figures, printed: how soon a screen is there, how long it blocks, how quickly one follows another.
import { openBrowser, openPerson, openServer, settled } from './world.mjs';
import { furnish } from './screens.mjs';

const ROUNDS = Number(process.env.ROUNDS ?? 5);
const [browser, server] = await Promise.all([openBrowser(), openServer()]);
const team = await furnish(server);
const median = (values) => values.toSorted((one, other) => one - other)[values.length >> 1];

async function load(path, token) {
  const person = await openPerson(browser, server, { token });
  await person.page.addInitScript(() => {
    window.__figures = { lcp: 0, blocked: 0, shift: 0 };
    const watch = (type, note) => new PerformanceObserver((list) => list.getEntries().forEach(note)).observe({ type, buffered: true });
    watch('largest-contentful-paint', (entry) => { window.__figures.lcp = entry.startTime; });
    watch('longtask', (entry) => { window.__figures.blocked += Math.max(0, entry.duration - 50); });
    watch('layout-shift', (entry) => { if (!entry.hadRecentInput) window.__figures.shift += entry.value; });
  });
  await person.go(path);
  await person.page.waitForTimeout(400);
  const figures = await person.page.evaluate(() => {
    const bytes = (kind) => performance.getEntriesByType('resource').filter((one) => one.name.endsWith(kind)).reduce((sum, one) => sum + one.encodedBodySize, 0) / 1024;
    return { ...window.__figures, script: bytes('.js'), style: bytes('.css') };
  });
  await person.close();
  return figures;
}

async function change(page, path) {
  return page.evaluate(async (to) => {
    const started = performance.now();
    const before = document.querySelector('#root h1')?.textContent;
    location.hash = to;
    while (document.querySelector('#root h1')?.textContent === before || document.querySelector('.skeleton')) await new Promise(requestAnimationFrame);
    return performance.now() - started;
  }, path);
}

for (const [name, path, token] of [['sign-in', '/sign-in'], ['home', '/', team.ada], ['notes', '/notes', team.ada], ['note', `/notes/${team.note}`, team.ada], ['files', '/files', team.ada], ['file', `/files/${team.files.tides}`, team.ada], ['document', `/documents/${team.files.document}`, team.ada], ['usage', '/settings/usage', team.ada], ['companies', '/settings/instance/companies', team.ada], ['branding', '/settings/company/branding', team.ada]]) {
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await load(path, token));
  const of = (key) => median(rounds.map((one) => one[key]));
  console.log(`${name.padEnd(10)} LCP ${of('lcp').toFixed(0).padStart(5)} ms · blocked ${of('blocked').toFixed(0).padStart(4)} ms · shift ${of('shift').toFixed(3)} · script ${of('script').toFixed(1)} kB as sent · style ${of('style').toFixed(1)} kB`);
}

const person = await openPerson(browser, server, { token: team.ada });
await person.go('/');
const tour = ['/files', '/documents', '/settings/usage', '/settings/company', '/settings/instance/companies', '/settings/members', '/settings/tokens', '/settings/features', '/settings/audit', '/settings/instance', '/settings/plugins', '/'];
for (const path of tour) { await change(person.page, path); await settled(person.page); }
const warm = [];
for (let round = 0; round < 3; round++) for (const path of tour) warm.push(await change(person.page, path));
console.log(`warm route change: median ${median(warm).toFixed(0)} ms, slowest ${Math.max(...warm).toFixed(0)} ms of ${warm.length}`);
await person.close();
await browser.close();
await server.close();
