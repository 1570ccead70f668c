/** The roles there are in a team, and which of them somebody may give. */
import type { Schemas } from './client';

export type Role = Schemas['Role'];

/** Strongest first, as people look for them. */
export const ROLES: Role[] = ['owner', 'admin', 'member', 'viewer', 'reviewer', 'translator'];
/** These two exist in the instance's first team only. */
const CATALOG_ROLES: Role[] = ['reviewer', 'translator'];
/** Whose permissions include another role's; owners come from owners. */
const GIVES: Record<Role, Role[]> = {
  owner: ['owner', 'admin', 'member', 'viewer'],
  admin: ['admin', 'member', 'viewer'],
  member: ['member', 'viewer'],
  viewer: ['viewer'],
  reviewer: ['viewer', 'reviewer'],
  translator: ['viewer', 'translator'],
};

/** Nobody gives what they do not hold; an operator holds everything. */
export const givable = (own: Role, operator: boolean): Role[] => (operator ? ROLES : GIVES[own]);

/** The same for any team of the company. */
export const givableAnywhere = (own: Role, operator: boolean): Role[] =>
  givable(own, operator).filter((role) => !CATALOG_ROLES.includes(role));
