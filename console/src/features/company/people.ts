/** Who is in the company, and which of its roles somebody may give. */
import { infiniteQueryOptions } from '@tanstack/react-query';
import { api, value, type Schemas } from '@/api/client';
import { PAGE, type Identity, type Member } from '@/api/queries';

export type OrgRole = Schemas['OrgRole'];

/** Strongest first. */
export const ORG_ROLES: OrgRole[] = ['org_owner', 'org_admin', 'org_reader'];

export const peopleQuery = infiniteQueryOptions({
  queryKey: ['members', 'company'],
  queryFn: ({ pageParam }) =>
    value(api.GET('/api/members', { params: { query: { scope: 'org', limit: PAGE, ...(pageParam ? { cursor: pageParam } : {}) } } })),
  initialPageParam: '',
  getNextPageParam: (page) => page.next_cursor ?? undefined,
});

/** Only owners name owners. */
export const nameable = (own: OrgRole | null): OrgRole[] => ORG_ROLES.filter((role) => role !== 'org_owner' || own === 'org_owner');

/** Why somebody's role cannot be changed by the one who looks, if it cannot. */
export function lockOf(person: Member, viewer: Pick<Identity, 'user' | 'org_role'>): 'own' | 'owner' | null {
  if (person.id === viewer.user.id) return 'own';
  return person.org_role === 'org_owner' && viewer.org_role !== 'org_owner' ? 'owner' : null;
}
