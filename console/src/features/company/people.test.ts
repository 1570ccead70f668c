import { describe, expect, it } from 'vitest';
import type { Member } from '@/api/queries';
import { lockOf, nameable } from './people';

const person = (id: string, org_role: Member['org_role']): Member => ({
  id,
  team_id: 't',
  username: id,
  display_name: id,
  role: 'member',
  org_role,
  two_factor: false,
  created_at: '',
  revision: '',
});
const viewer = (id: string, org_role: Member['org_role']) => ({ user: { id, username: id, display_name: id }, org_role });

describe('company roles', () => {
  it('of oneself are locked', () => expect(lockOf(person('ada', 'org_owner'), viewer('ada', 'org_owner'))).toBe('own'));
  it('of an owner are locked to an admin', () => expect(lockOf(person('ada', 'org_owner'), viewer('bo', 'org_admin'))).toBe('owner'));
  it('of anybody else are open', () => {
    expect(lockOf(person('ada', 'org_owner'), viewer('bo', 'org_owner'))).toBeNull();
    expect(lockOf(person('ada', null), viewer('bo', 'org_admin'))).toBeNull();
  });
  it('of owners are named by owners only', () => {
    expect(nameable('org_owner')).toContain('org_owner');
    expect(nameable('org_admin')).toEqual(['org_admin', 'org_reader']);
  });
});
