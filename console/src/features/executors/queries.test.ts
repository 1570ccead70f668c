import { isRetirable, serves } from './queries';

const org = { id: 'acme', name: 'Acme', slug: 'acme' };
const boss = { operator: false, org, permissions: ['org:manage'] };
const operator = { operator: true, org, permissions: ['instance:manage', 'org:manage'] };
const ours = { id: '1', org_id: 'acme' };
const theirs = { id: '2', org_id: 'globex' };
const everybodys = { id: '3', org_id: null };

test('a company retires its own machines and no other', () => {
  expect([ours, theirs, everybodys].map((one) => isRetirable(one, boss))).toEqual([true, false, false]);
  expect(isRetirable(ours, { ...boss, permissions: [] })).toBe(false);
});

test('an operator retires any, but not the server itself', () => {
  expect([ours, theirs, everybodys, { id: null, org_id: null }].map((one) => isRetirable(one, operator))).toEqual([
    true,
    true,
    true,
    false,
  ]);
});

test('a team chooses among what serves its company', () => {
  expect([ours, theirs, everybodys].map((one) => serves(one, 'acme'))).toEqual([true, false, true]);
});
