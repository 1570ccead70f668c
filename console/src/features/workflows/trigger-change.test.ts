import { changeOf, isGivenAlike } from './trigger-change';
import { EMPTY } from './trigger-words';

const read = { ...EMPTY, workflow_slug: 'scan', input: { words: ['a'], key: { $: 'object.key' } }, allow_egress: true };

test('allowing to send is not said again with another name', () => {
  expect(changeOf(read, { ...read, name: 'Scans' })).not.toHaveProperty('allow_egress');
  expect(changeOf(read, { ...read, input: { key: { $: 'object.key' }, words: ['a'] } })).not.toHaveProperty('allow_egress');
});

test('allowing to send is said anew of another workflow, or of what that is given', () => {
  expect(changeOf(read, { ...read, workflow_slug: 'send' })).toMatchObject({ workflow_slug: 'send', allow_egress: true });
  expect(changeOf(read, { ...read, input: { words: ['b'], key: { $: 'object.key' } } })).toMatchObject({ allow_egress: true });
  expect(changeOf(read, { ...read, allow_egress: false })).toMatchObject({ allow_egress: false });
});

test('what is given is alike only with the same values of the same kinds', () => {
  const given = (input: Record<string, unknown>) => ({ workflow_slug: 'scan', input });
  expect(isGivenAlike(given({ a: [] }), given({ a: {} }))).toBe(false);
  expect(isGivenAlike(given({ a: 1 }), given({ b: 1 }))).toBe(false);
  expect(isGivenAlike(given({ a: null }), given({ a: {} }))).toBe(false);
  expect(isGivenAlike(given({ a: { b: [1, 'x', null] } }), given({ a: { b: [1, 'x', null] } }))).toBe(true);
});
