/** What a limit's refusal says: which limit, how much of it is used, until when, and whom to ask. */
import type { Refusal } from '@/api/refusal';
import type { Formatter } from '@/i18n/language';
import { numberLocale } from '@/i18n/formatter';
import { bytesOf } from './meter';

export const LIMIT_REACHED = 'quotas.exceeded';
const STORAGE = 'storage.bytes';
const UNITS = { b: 'byte', kb: 'kilobyte', mb: 'megabyte', gb: 'gigabyte', tb: 'terabyte', pb: 'petabyte' } as const;

/** Null where the refusal does not have the facts: an older server, or something between. */
export function limitWords(formatter: Formatter, { facts }: Refusal): string | null {
  const { dimension, limit, used, remaining } = facts;
  if (typeof dimension !== 'string' || typeof limit !== 'number' || typeof used !== 'number') return null;
  const { t } = formatter;
  const amount = (n: number) => (dimension === STORAGE ? bytes(formatter.locale, n) : formatter.number(n));
  const left = typeof remaining === 'number' ? remaining : Math.max(0, limit - used);
  const values = {
    level: String(facts.level),
    what: dimension.replaceAll('.', '_'),
    window: String(facts.window),
    used: amount(used),
    left: amount(left),
    limit: amount(limit),
  };
  return [left > 0 ? t('errors.limit_lacking', values) : t('errors.limit_reached', values), until(formatter, facts), whom(formatter, facts)]
    .filter(Boolean)
    .join(' ');
}

function until({ t, ago, clock, dateTime }: Formatter, { resets_at: at, dimension }: Refusal['facts']): string {
  if (typeof at !== 'string') return dimension === STORAGE ? t('errors.limit_storage') : '';
  const today = new Date(at).getTime() - Date.now() < 86_400_000;
  return t('errors.limit_resets', { time: today ? clock(at) : dateTime(at), when: ago(at) });
}

/** People by name where the server names some. */
function whom({ t }: Formatter, { ask }: Refusal['facts']): string {
  if (!Array.isArray(ask)) return '';
  const [one, two, three] = (ask as { name?: string | null }[]).flatMap(({ name }) => (name ? [name] : []));
  if (!one) return t('errors.limit_ask_operator');
  return t('errors.limit_ask', { n: three ? 3 : two ? 2 : 1, one, two: two ?? '', three: three ?? '' });
}

function bytes(locale: string, amount: number): string {
  const { n, unit } = bytesOf(amount);
  return new Intl.NumberFormat(numberLocale(locale), { style: 'unit', unit: UNITS[unit], maximumFractionDigits: 1 }).format(n);
}
