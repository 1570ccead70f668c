/** What is looked at, in the address: it can be linked to, and Back finds it again. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Shown } from './queries';

export type View = 'coverage' | 'desk' | 'review';

export interface Address {
  locale?: string;
  status?: Shown;
  ns?: string;
  q?: string;
  /** The message that is open. */
  key?: string;
  /** The job whose report is shown. */
  job?: string;
}
export type Change = { [Name in keyof Address]?: Address[Name] | undefined };

const SHOWN: Shown[] = ['missing', 'stale', 'machine', 'approved', 'pending'];
const NAMES = ['locale', 'ns', 'q', 'key', 'job'] as const;
const ROOT = '/settings/instance/translations';

export const pathOf = (view: View): string => (view === 'coverage' ? ROOT : `${ROOT}/${view}`);

const filled = (all: Change): Address => Object.fromEntries(Object.entries(all).filter(([, one]) => one)) as Address;

/** Search words of a link. */
export const searchOf = (change: Change) => filled(change) as never;

export function useAddress(view: View): [Address, (change: Change, options?: { push?: boolean }) => void] {
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const navigate = useNavigate();
  const texts = NAMES.map((name) => [name, search[name] === undefined ? undefined : String(search[name])]);
  const address = filled({ ...Object.fromEntries(texts), status: SHOWN.find((one) => one === search.status) });
  const change = (wanted: Change, { push = false } = {}) =>
    void navigate({ to: pathOf(view), search: searchOf({ ...address, ...wanted }), replace: !push });
  return [address, change];
}
