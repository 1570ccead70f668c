// How long a proof takes in a browser at several speeds, beside the same work done natively, and how long the page stands still for it.
import assert from 'node:assert/strict';
import { pbkdf2Sync, randomBytes } from 'node:crypto';
import { after, before, it } from 'node:test';
import { call, closeAll, found, openBrowser, openServer, patient } from '../world.mjs';

const RATES = [1, 4, 6];
const LEAST = 0.8;
const MOST_BLOCKING = 200;
const ROUNDS = 5;
const median = (values) => values.sort((one, other) => one - other)[Math.floor(values.length / 2)];

/** Milliseconds of one try by OpenSSL on one core. */
function native(cost, tries = 300) {
  const salt = randomBytes(16);
  const began = performance.now();
  for (let counter = 0; counter < tries; counter++) pbkdf2Sync(randomBytes(20), salt, cost, 32, 'sha256');
  return (performance.now() - began) / tries;
}

/** A proof by the SDK on a page of its own, at a fraction of the machine's speed. */
async function solve(browser, server, rate) {
  const page = await browser.newPage();
  patient(page.context());
  await page.goto(`${server.address}/beta/template`);
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate });
  const { text, ...seen } = await page.evaluate(async () => {
    let blocking = 0;
    let longest = 0;
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) {
        blocking += duration - 50;
        longest = Math.max(longest, duration);
      }
    }).observe({ entryTypes: ['longtask'] });
    const { text } = await window.Service.beta.challenge();
    await new Promise((resolve) => setTimeout(resolve, 100));
    return { text, blocking, longest };
  });
  await page.close();
  const { challenge, solution } = JSON.parse(Buffer.from(text, 'base64').toString());
  return { ...seen, took: solution.time, each: solution.time / (solution.counter + 1), cost: challenge.parameters.cost };
}

let browser, server;
before(async () => {
  [browser, server] = await Promise.all([openBrowser(), openServer({ SERVICE_RATE_CHALLENGES: '100000' })]);
  await found(server);
});
after(closeAll);

it('takes a proof no longer than its share of native work, and the page never stands still for it', async (run) => {
  await call(server, '/api/beta/challenge');
  const seen = new Map(RATES.map((rate) => [rate, []]));
  const alone = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const rate of RATES) {
      alone.push(native(1000));
      seen.get(rate).push({ ...(await solve(browser, server, rate)), beside: alone.at(-1) });
    }
  }
  const missed = [];
  for (const [rate, runs] of seen) {
    const of = (name) => median(runs.map((one) => one[name]));
    const ratio = median(runs.map((one) => one.beside / one.each));
    run.diagnostic(`${rate}x slower: ${(of('took') / 1000).toFixed(1)} s for a proof, ${of('each').toFixed(2)} ms a try, ${ratio.toFixed(2)} of native; blocking ${of('blocking').toFixed(0)} ms in all, ${of('longest').toFixed(0)} ms at longest`);
    if (of('longest') >= MOST_BLOCKING) missed.push(`${rate}x slower: the page stood still for ${of('longest').toFixed(0)} ms`);
    if (rate === 1 && ratio < LEAST) missed.push(`${ratio.toFixed(2)} of native`);
  }
  const each = median(alone);
  run.diagnostic(`native: ${each.toFixed(2)} ms a try; 1,000 sign-ups take one core ${((each * 1_000_000) / 60_000).toFixed(0)} minutes, eight times as long from one network`);
  assert.deepEqual(missed, []);
});
