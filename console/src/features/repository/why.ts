/** Why somebody sees a file, from what is known about it: ownership, visibility, shares. */
import type { Schemas } from '@/api/client';
import type { StoredObject } from '@/api/repository';

export type Grant = Schemas['ObjectGrant'];
export type Capability = Grant['capability'];

export interface Person {
  id: string;
  team_id: string;
  role: string;
  org_role: string | null;
}

export type Reason =
  | { why: 'owner' }
  | { why: 'their_team' }
  | { why: 'company_role' }
  | { why: 'grant'; grant: Grant }
  | { why: 'ended'; grant: Grant };

/** Roles that read the team's files; a worker takes jobs and reads nothing by itself. */
const READERS = new Set(['owner', 'admin', 'member', 'viewer']);

/** Strongest first; a share that has ended explains why somebody no longer sees it. */
export function reasonsFor(
  person: Person,
  file: Pick<StoredObject, 'owner_id' | 'team_id' | 'visibility'>,
  grants: Grant[],
  org: string,
): Reason[] {
  const own = grants.filter((grant) => [person.id, person.team_id, org].includes(grant.principal_id));
  const ofTeam = file.visibility === 'team';
  const reasons: (Reason | false)[] = [
    person.id === file.owner_id && { why: 'owner' },
    ofTeam && person.team_id === file.team_id && READERS.has(person.role) && { why: 'their_team' },
    ofTeam && person.org_role !== null && { why: 'company_role' },
    ...own.map((grant): Reason => ({ why: grant.expired ? 'ended' : 'grant', grant })),
  ];
  return reasons.filter((reason) => reason !== false);
}

export const seesIt = (reasons: Reason[]): boolean => reasons.some((reason) => reason.why !== 'ended');
