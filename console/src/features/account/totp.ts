/** One-time codes (RFC 6238), computed here: browsers have their own SHA-1 on HTTPS only, and the seed is on screen anyway. */
const STEP = 30_000;
const DIGITS = 6;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function bytesOf(base32: string): number[] {
  const bits = [...base32.replace(/[=\s]/g, '').toUpperCase()]
    .map((letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, '0'))
    .join('');
  return (bits.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2));
}

const turned = (word: number, by: number): number => (word << by) | (word >>> (32 - by));

function sha1(message: number[]): number[] {
  const padded = [...message, 0x80];
  while (padded.length % 64 !== 56) padded.push(0);
  padded.push(0, 0, 0, 0, ...wordBytes(message.length * 8));
  const state = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];
  for (let at = 0; at < padded.length; at += 64) mix(state, padded.slice(at, at + 64));
  return state.flatMap(wordBytes);
}

const wordBytes = (word: number): number[] => [word >>> 24, (word >>> 16) & 255, (word >>> 8) & 255, word & 255];

function mix(state: number[], block: number[]): void {
  const words = Array.from(
    { length: 16 },
    (_, at) => (block[at * 4]! << 24) | (block[at * 4 + 1]! << 16) | (block[at * 4 + 2]! << 8) | block[at * 4 + 3]!,
  );
  for (let at = 16; at < 80; at++) words.push(turned(words[at - 3]! ^ words[at - 8]! ^ words[at - 14]! ^ words[at - 16]!, 1));
  let [a, b, c, d, e] = state as [number, number, number, number, number];
  words.forEach((word, at) => {
    const [chosen, constant] = [
      [(b & c) | (~b & d), 0x5a827999],
      [b ^ c ^ d, 0x6ed9eba1],
      [(b & c) | (b & d) | (c & d), 0x8f1bbcdc],
      [b ^ c ^ d, 0xca62c1d6],
    ][Math.floor(at / 20)] as [number, number];
    [a, b, c, d, e] = [(turned(a, 5) + chosen + e + constant + word) | 0, a, turned(b, 30), c, d];
  });
  [a, b, c, d, e].forEach((word, at) => (state[at] = (state[at]! + word) | 0));
}

function hmac(key: number[], message: number[]): number[] {
  const block = Array.from({ length: 64 }, (_, at) => key[at] ?? 0);
  const inner = sha1([...block.map((byte) => byte ^ 0x36), ...message]);
  return sha1([...block.map((byte) => byte ^ 0x5c), ...inner]);
}

function codeAt(secret: string, step: number): string {
  const digest = hmac(bytesOf(secret), [...wordBytes(Math.floor(step / 2 ** 32)), ...wordBytes(step >>> 0)]);
  const offset = digest[19]! & 15;
  const number = ((digest[offset]! & 127) << 24) | (digest[offset + 1]! << 16) | (digest[offset + 2]! << 8) | digest[offset + 3]!;
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0');
}

/** Whether the app that shows this code has the seed and about the right time: one step of drift either way, as at sign-in. */
export function isCode(secret: string, code: string, now: number): boolean {
  const step = Math.floor(now / STEP);
  return [step - 1, step, step + 1].some((one) => codeAt(secret, one) === code.replaceAll(' ', ''));
}
