/** Triggers as people call them. */
import type { Formatter } from '@/i18n/language';
import type { Fire, Trigger, TriggerDraft } from './shapes';

type Called = Pick<Trigger, 'name' | 'workflow_slug' | 'match_prefix'>;

/** One without a name is called by what it starts and where. */
export function nameOf({ name, workflow_slug: slug, match_prefix: prefix }: Called): string {
  return name || (prefix ? `${slug} · ${prefix}` : slug);
}

export const reasonWords = ({ t, find }: Pick<Formatter, 't' | 'find'>, reason: string | null): string =>
  (reason && find(`triggers.reason_${reason}`)) || t('triggers.reason_other');

export const outcomeWords = (language: Pick<Formatter, 't' | 'find'>, { outcome, reason }: Pick<Fire, 'outcome' | 'reason'>): string =>
  outcome === 'fired' ? language.t('triggers.fired') : reasonWords(language, reason);

/** What a type must look like: `type/subtype` or `type/*`. */
const TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]*\/(?:\*|[a-z0-9][a-z0-9!#$&^_.+-]*)$/i;

/** Types as they were typed, and the first that is none. */
export function typesIn(text: string): { types: string[]; wrong: string | null } {
  const types = text.split(/[\s,;]+/).filter(Boolean).map((one) => one.toLowerCase());
  return { types: [...new Set(types)], wrong: types.find((one) => !TYPE.test(one)) ?? null };
}

export const EMPTY: TriggerDraft = {
  workflow_slug: '',
  name: '',
  match_prefix: '',
  match_types: [],
  input: {},
  fire_on_derived: false,
  enabled: true,
  allow_egress: false,
};
