import { describe, expect, it } from 'vitest';
import { givable, givableAnywhere, ROLES } from './roles';

describe('a role', () => {
  it('is given by whoever holds all of it', () => {
    expect(givable('owner', false)).toContain('owner');
    expect(givable('admin', false)).toEqual(['admin', 'member', 'viewer']);
    expect(givable('viewer', false)).toEqual(['viewer']);
  });
  it('of any kind is given by an operator', () => expect(givable('viewer', true)).toEqual(ROLES));
  it('of the catalogs is not given in any team', () =>
    expect(givableAnywhere('viewer', true)).toEqual(['owner', 'admin', 'member', 'viewer']));
});
