// Screens as small PNGs: light, dark, and on a phone. Without arguments the pictures that docs/screenshots has, anew;
// with names, or `all`, every view of those screens into console/screenshots, which is not kept in the repository.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { still } from './axe.mjs';
import { openBrowser, openPerson, openServer } from './world.mjs';
import { furnish, screensOf } from './screens.mjs';
import { onceScreensOf } from './once-screens.mjs';
import { wordsOf } from './words.mjs';

const wanted = process.argv.slice(2);
const folder = fileURLToPath(new URL(wanted.length ? '../screenshots' : '../../docs/screenshots', import.meta.url));
const VIEWS = [['light', { mode: 'light' }], ['dark', { mode: 'dark' }], ['phone', { mode: 'light', width: 360, height: 740 }]];
const t = wordsOf('en');
const [browser, server, empty] = await Promise.all([openBrowser(), openServer(), openServer()]);
const team = await furnish(server);
await server.say('age');
mkdirSync(folder, { recursive: true });
const kept = readdirSync(folder);
const isWanted = (name, view) => (wanted.length ? wanted.includes(name) || wanted.includes('all') : kept.includes(`${name}-${view}.png`));

async function picture(screen, view, options) {
  const person = await openPerson(browser, screen.first ? empty : server, { ...options, token: screen.first || screen.outside ? undefined : (screen.token ?? team.ada) });
  await person.go(screen.path);
  await screen.act?.(person.page);
  await still(person.page);
  await person.page.screenshot({ path: `${folder}/${screen.name}-${view}.png` });
  await person.close();
}

// What shows a secret once comes last: it leaves something behind that the other screens would show.
for (const screens of [[{ name: 'first-run', path: '/', first: true }, ...screensOf(team, t)], onceScreensOf(team, t)])
  for (const [view, options] of VIEWS)
    for (const screen of screens) if (isWanted(screen.name, view)) await picture(screen, view, options);
await browser.close();
await Promise.all([server.close(), empty.close()]);
try {
  execFileSync('pngquant', ['--force', '--ext', '.png', '--speed', '3', '--quality', '70-95', ...execFileSync('ls', [folder], { encoding: 'utf8' }).trim().split('\n').map((name) => `${folder}/${name}`)]);
} catch {
  console.log('pngquant is not installed: the pictures stay larger than they need to be');
}
