import { expect, it } from 'vitest';
import { movedTo } from './moved';

it('leads from the addresses of former consoles to where the same thing is now', () => {
  expect(movedTo('/members')).toBe('/settings/members');
  expect(movedTo('/members/new?x=1')).toBe('/settings/members/new?x=1');
  expect(movedTo('/instance/companies?q=a')).toBe('/settings/instance/companies?q=a');
  expect(movedTo('/account')).toBe('/settings/profile');
  expect(movedTo('/account/security')).toBe('/settings/security');
  expect(movedTo('/account/preferences')).toBe('/settings/appearance');
});

it('leaves alone what never was an address', () => {
  for (const address of ['/', '/membership', '/companyx/people', '/settings/members', '/nowhere/members']) {
    expect(movedTo(address)).toBeNull();
  }
});
