/** What can be done about a sign-up, and what to call the person. */
import type { Answers, Prospect } from './queries';

export type DeedKind = 'accept' | 'invite' | 'decline';

/** A decision stands: after it, operators may still invite whom it accepted. */
export function deedsFor({ state }: Pick<Prospect, 'state'>, operator: boolean): DeedKind[] {
  const invite: DeedKind[] = operator && state !== 'declined' ? ['invite'] : [];
  return state === 'captured' ? ['accept', ...invite, 'decline'] : invite;
}

/** Their address: the answer that looks like one, as the server finds it. */
export const addressOf = (fields: Answers): string =>
  Object.values(fields).find((one): one is string => typeof one === 'string' && one.includes('@')) ?? '';

/** A first guess at the company's name, from an answer that is called so. */
export const companyOf = (fields: Answers): string => {
  const named = Object.entries(fields).find(([name]) => /compan|organi|team|empresa|bedrijf/.test(name))?.[1];
  return typeof named === 'string' ? named : '';
};
