/** What is sent of a trigger that was edited. */
import type { TriggerDraft } from './shapes';

type Given = Pick<TriggerDraft, 'workflow_slug' | 'input'>;

/** Without regard to the order of names. */
const same = (one: unknown, other: unknown): boolean => {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other;
  const names = Object.keys(one);
  return (
    Array.isArray(one) === Array.isArray(other) &&
    names.length === Object.keys(other).length &&
    names.every((name) => name in other && same(one[name as never], other[name as never]))
  );
};

/** Whether the same workflow is given the same: what may be sent elsewhere was allowed for that alone. */
export const isGivenAlike = (one: Given, other: Given): boolean =>
  one.workflow_slug === other.workflow_slug && same(one.input, other.input);

/** Allowing to send is said only where it was changed, or has to be said anew: it counts for the present version, and not everybody may. */
export function changeOf(read: TriggerDraft, { allow_egress, ...draft }: TriggerDraft): Partial<TriggerDraft> {
  return allow_egress === read.allow_egress && isGivenAlike(read, draft) ? draft : { ...draft, allow_egress };
}
