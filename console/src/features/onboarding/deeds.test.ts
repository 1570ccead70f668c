import { describe, expect, it } from 'vitest';
import { addressOf, companyOf, deedsFor } from './deeds';

describe('what can be done about a sign-up', () => {
  it('is everything before a decision, and inviting for operators alone', () => {
    expect(deedsFor({ state: 'captured' }, true)).toEqual(['accept', 'invite', 'decline']);
    expect(deedsFor({ state: 'captured' }, false)).toEqual(['accept', 'decline']);
  });

  it('is inviting whom a decision accepted, and nothing for the declined', () => {
    expect(deedsFor({ state: 'accepted' }, true)).toEqual(['invite']);
    expect(deedsFor({ state: 'accepted' }, false)).toEqual([]);
    expect(deedsFor({ state: 'declined' }, true)).toEqual([]);
  });
});

it('a person is called by their address, and their company by the answer that names it', () => {
  const fields = { terms: true, email: 'ada@example.com', company: 'Lovelace Ltd' };
  expect(addressOf(fields)).toBe('ada@example.com');
  expect(companyOf(fields)).toBe('Lovelace Ltd');
  expect(companyOf({ email: 'ada@example.com' })).toBe('');
});
