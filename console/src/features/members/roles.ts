import type { Schemas } from '@/api/client';

export type Role = Schemas['Role'];

/** Strongest first, as people look for them. */
export const ROLES: Role[] = ['owner', 'admin', 'member', 'viewer', 'reviewer', 'translator', 'worker'];
/** The order the server compares them in, weakest first. */
const RANKS: Role[] = ['worker', 'viewer', 'translator', 'reviewer', 'member', 'admin', 'owner'];

/** Nobody grants above their own role, except an operator. */
export const grantable = (own: Role, operator: boolean): Role[] => ROLES.filter((role) => operator || RANKS.indexOf(role) <= RANKS.indexOf(own));
