/**
 * `window.Service.beta`: the sign-up form's three calls for any page, whatever its policy. A classic script without workers, styles or
 * evaluated text; its own address is the server's.
 */
type Parameters = { algorithm: string; cost: number; keyLength: number; keyPrefix: string; nonce: string; salt: string; expiresAt: number };
type Challenge = { parameters: Parameters; signature: string };
type Proof = { text: string; expires: number };
type Fields = Record<string, unknown>;

const base = new URL('.', (document.currentScript as HTMLScriptElement).src).href;
const opened = Date.now();
const bytes = (hex: string) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const hexOf = (found: Uint8Array) => Array.from(found, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** A refusal of the server: `status`, and `problem` as it came. */
class BetaError extends Error {
  constructor(
    readonly status: number,
    readonly problem: { code?: string; detail?: string; errors?: { path: string; message: string }[] },
  ) {
    super(problem.detail ?? `the server answered ${status}`);
  }
}

async function ask<T>(path: string, init: RequestInit = {}): Promise<T> {
  const reply = await fetch(base + path, { credentials: 'omit', ...init });
  const body = await reply.json().catch(() => ({}));
  if (!reply.ok) throw new BetaError(reply.status, body);
  return body;
}

function password(nonce: Uint8Array, counter: number): Uint8Array<ArrayBuffer> {
  const made = new Uint8Array(nonce.length + 4);
  made.set(nonce);
  new DataView(made.buffer).setUint32(nonce.length, counter);
  return made;
}

async function subtle(how: Pbkdf2Params, keyLength: number, text: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const key = await crypto.subtle.importKey('raw', text, 'PBKDF2', false, ['deriveBits']);
  return new Uint8Array(await crypto.subtle.deriveBits(how, key, keyLength * 8));
}

/* SHA-256 for pages on plain http, where browsers give no `crypto.subtle`. */
const K = new Uint32Array(64);
const H = new Uint32Array(8);
for (let prime = 2, found = 0; found < 64; prime++) {
  let divisor = 2;
  while (divisor * divisor <= prime && prime % divisor) divisor++;
  if (divisor * divisor > prime) {
    if (found < 8) H[found] = (prime ** 0.5 % 1) * 2 ** 32;
    K[found++] = (prime ** (1 / 3) % 1) * 2 ** 32;
  }
}
const W = new Uint32Array(64);
const turn = (word: number, by: number) => (word >>> by) | (word << (32 - by));

function compress(state: Uint32Array, block: Uint32Array): void {
  for (let i = 0; i < 64; i++) {
    if (i < 16) W[i] = block[i]!;
    else {
      const a = W[i - 15]!;
      const b = W[i - 2]!;
      W[i] = W[i - 16]! + W[i - 7]! + (turn(a, 7) ^ turn(a, 18) ^ (a >>> 3)) + (turn(b, 17) ^ turn(b, 19) ^ (b >>> 10));
    }
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let i = 0; i < 64; i++) {
    const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + K[i]! + W[i]!) | 0;
    const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i] = state[i]! + word));
}

/** The state after a key's pad, from which every HMAC with it goes on. */
function padded(key: Uint8Array, pad: number): Uint32Array {
  const block = new Uint8Array(64).fill(pad);
  key.forEach((byte, i) => (block[i] = byte ^ pad));
  const view = new DataView(block.buffer);
  const state = H.slice();
  compress(state, Uint32Array.from({ length: 16 }, (_, i) => view.getUint32(i * 4)));
  return state;
}

const last = new Uint32Array(16);
function finish(start: Uint32Array, words: Uint32Array, length: number): Uint32Array {
  const state = start.slice();
  last.fill(0);
  last.set(words);
  last[words.length] = 0x80000000;
  last[15] = (64 + length) * 8;
  compress(state, last);
  return state;
}

/** PBKDF2 with a key of 32 bytes; keys and salts of ours are short enough for one block. */
function plain(salt: Uint8Array, cost: number, key: Uint8Array): Uint8Array {
  const inner = padded(key, 0x36);
  const outer = padded(key, 0x5c);
  const first = new DataView(new Uint8Array([...salt, 0, 0, 0, 1]).buffer);
  const words = Uint32Array.from({ length: first.byteLength / 4 }, (_, i) => first.getUint32(i * 4));
  let round = finish(outer, finish(inner, words, first.byteLength), 32);
  const sum = round.slice();
  for (let i = 1; i < cost; i++) {
    round = finish(outer, finish(inner, round, 32), 32);
    round.forEach((word, j) => (sum[j] = sum[j]! ^ word));
  }
  return Uint8Array.from({ length: 32 }, (_, i) => sum[i >> 2]! >>> (24 - 8 * (i & 3)));
}

const breath = () => new Promise<void>((resolve) => setTimeout(resolve));

async function solve({ parameters, signature }: Challenge): Promise<Proof> {
  const started = Date.now();
  const { cost, keyLength, keyPrefix } = parameters;
  // Read once: on a slow phone, what this thread does between two tries takes as long as a try.
  const [nonce, salt, prefix] = [bytes(parameters.nonce), bytes(parameters.salt), bytes(keyPrefix)];
  let counter = 0;
  let found: { counter: number; derivedKey: string } | undefined;
  const check = (mine: number, key: Uint8Array) => {
    if (prefix.every((byte, i) => key[i] === byte) && hexOf(key).startsWith(keyPrefix)) found = { counter: mine, derivedKey: hexOf(key) };
  };
  // Each try ends in a task of its own, so that the page does not stand still.
  const natively = async () => {
    const how = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: cost };
    for (let mine = counter++; !found; mine = counter++) check(mine, await subtle(how, keyLength, password(nonce, mine)));
  };
  const plainly = async () => {
    for (let slice = Date.now(); !found; ) {
      const mine = counter++;
      check(mine, plain(salt, cost, password(nonce, mine)));
      // A page that people type into must not stand still.
      if (Date.now() - slice > 8) {
        await breath();
        slice = Date.now();
      }
    }
  };
  await Promise.all(globalThis.crypto?.subtle ? [natively(), natively()] : [plainly()]);
  const payload = { challenge: { parameters, signature }, solution: { ...found!, time: Date.now() - started } };
  return { text: btoa(JSON.stringify(payload)), expires: parameters.expiresAt * 1000 };
}

let pending: Promise<Proof> | undefined;

/** Fetch a challenge and solve it ahead; what was solved is used by the next `signup`. */
function challenge(): Promise<Proof> {
  pending ??= ask<Challenge>('api/beta/challenge').then(solve);
  pending.catch(() => (pending = undefined));
  return pending;
}

const config = (locale?: string) => ask('api/beta/config' + (locale ? `?locale=${encodeURIComponent(locale)}` : ''));

async function ready(): Promise<Proof> {
  const proof = await challenge();
  if (proof.expires - Date.now() > 5000) return proof;
  pending = undefined;
  return challenge();
}

/** Sign up; a proof that became too old on the way, or was spent by a lost reply, is renewed once. */
async function signup(fields: Fields, more: { locale?: string; hp?: string } = {}, again = true): Promise<unknown> {
  const proof = await ready();
  const sent = { fields, proof: proof.text, elapsed_ms: Date.now() - opened, ...more };
  try {
    const reply = await ask('api/beta/signup', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(sent) });
    pending = undefined;
    return reply;
  } catch (error) {
    const code = error instanceof BetaError ? error.problem.code : '';
    if (!again || !/^onboarding\.proof_/.test(code ?? '')) throw error;
    pending = undefined;
    return signup(fields, more, false);
  }
}

/**
 * Forms of a page without scripts of its own: `<form data-beta>` is sent, and says in `[data-beta-status]` what became of it. Its fields hide
 * the form's own properties of their names (`matches`, `hidden`), so only what no field can be named is asked of it.
 */
const OURS = 'form[data-beta]';
const isOurs = (target: EventTarget | null): target is HTMLFormElement => target instanceof HTMLFormElement && Element.prototype.matches.call(target, OURS);
document.addEventListener('focusin', (event) => {
  if (Element.prototype.closest.call(event.target as Element, OURS)) void challenge().catch(() => {});
});
document.addEventListener('submit', async (event) => {
  const form = event.target;
  if (!isOurs(form)) return;
  event.preventDefault();
  const fields: Fields = {};
  for (const input of form.querySelectorAll<HTMLInputElement>('input[name],select[name],textarea[name]')) fields[input.name] = input.type === 'checkbox' ? input.checked : input.value;
  const hp = String(fields.hp ?? '');
  delete fields.hp;
  const status = form.querySelector('[data-beta-status]');
  const say = (text: string) => status && (status.textContent = text);
  try {
    say(form.getAttribute('data-beta-working') ?? '');
    await signup(fields, { hp, ...(document.documentElement.lang && { locale: document.documentElement.lang }) });
    say('');
    form.setAttribute('hidden', '');
    document.querySelectorAll<HTMLElement>('[data-beta-thanks]').forEach((thanks) => (thanks.hidden = false));
  } catch (error) {
    say((error as Error).message);
  }
});

const owner = window as unknown as { Service?: Record<string, unknown> };
owner.Service = Object.assign(owner.Service ?? {}, { beta: { config, challenge, signup } });

export {};
