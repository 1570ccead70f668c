import { isCode } from './totp';

// RFC 6238, appendix B, shortened to six digits.
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

test.each([
  [59, '287082'],
  [1111111109, '081804'],
  [1111111111, '050471'],
  [1234567890, '005924'],
  [2000000000, '279037'],
  [20000000000, '353130'],
])('at %i the code is %s', (seconds, code) => {
  expect(isCode(SECRET, code, seconds * 1000)).toBe(true);
});

test('a code holds one step longer and begins one step earlier', () => {
  expect(isCode(SECRET, '287082', 89_000)).toBe(true);
  expect(isCode(SECRET, '287082', 0)).toBe(true);
  expect(isCode(SECRET, '287082', 120_000)).toBe(false);
});

test('another seed shows other codes, and spaces do not matter', () => {
  expect(isCode('JBSWY3DPEHPK3PXP', '287082', 59_000)).toBe(false);
  expect(isCode(SECRET, '287 082', 59_000)).toBe(true);
});
