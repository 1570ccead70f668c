import { score } from './score';

test('word starts rank above scattered letters, and missing letters do not match', () => {
  expect(score('au', 'Audit trail')).toBeGreaterThan(score('au', 'Features and tools: a unit'));
  expect(score('zz', 'Home')).toBe(-1);
});

test('accents do not matter while searching', () => {
  expect(score('sigrun', 'Sigrún Jónsdóttir')).toBeGreaterThan(0);
});
