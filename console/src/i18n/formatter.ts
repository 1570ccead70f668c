/** One language: messages, numbers, dates. Knows nothing about React. */
import { IntlMessageFormat, type FormatXMLElementFn } from 'intl-messageformat';
import type { ReactNode } from 'react';
import type { MessageKey } from './messages';

export type Values = Record<string, string | number>;
type Chunks = Record<string, string | number | FormatXMLElementFn<ReactNode>>;

/** Told what was said, by which message and with which values, while somebody points at texts. */
export type Hear = (key: string, said: ReactNode, values?: Chunks) => void;

export interface Formatter {
  locale: string;
  t: (key: MessageKey, values?: Values) => string;
  /** A message with `<tags>` around parts that become elements. */
  rich: (key: MessageKey, values: Chunks) => ReactNode;
  /** The message when the catalogs have it; for keys made from what the server says. */
  find: (key: string, values?: Values) => string | null;
  number: (n: number) => string;
  date: (iso: string) => string;
  dateTime: (iso: string) => string;
  clock: (iso: string) => string;
  /** How long ago or how soon, in words. */
  ago: (iso: string, now?: number) => string;
}

// Chromium has no Icelandic number data, only plural rules; Danish writes numbers the same way.
const NUMBERS_FROM: Record<string, string> = { is: 'da' };

export function numberLocale(locale: string): string {
  const language = locale.split('-')[0] ?? locale;
  return NUMBERS_FROM[language] ?? (Intl.NumberFormat.supportedLocalesOf(locale).length ? locale : 'en');
}

export function formatterOf(locale: string, messages: Record<string, string>, hear?: Hear): Formatter {
  const formats = new Map<string, IntlMessageFormat>();
  const formatters = formattersOf(locale);
  const number = new Intl.NumberFormat(numberLocale(locale));

  const format = (key: string): IntlMessageFormat | null => {
    const kept = formats.get(key);
    if (kept) return kept;
    const text = messages[key];
    if (text === undefined) return null;
    const made = new IntlMessageFormat(text, locale, undefined, { formatters });
    formats.set(key, made);
    return made;
  };
  const say = (key: string, values?: Chunks) => {
    const said = format(key)?.format(values) as ReactNode;
    hear?.(key, said, values);
    return said;
  };
  const find = (key: string, values?: Values) => (say(key, values) as string | undefined) ?? null;
  const t = (key: MessageKey, values?: Values) => find(key, values) ?? key;
  const date = (iso: string) => {
    const day = new Date(iso);
    return t('time.date', {
      day: day.getDate(),
      month: t(`time.month_${day.getMonth() + 1}` as MessageKey),
      year: String(day.getFullYear()),
    });
  };
  const clock = (iso: string) => {
    const at = new Date(iso);
    return `${String(at.getHours()).padStart(2, '0')}:${String(at.getMinutes()).padStart(2, '0')}`;
  };
  return {
    locale,
    t,
    find,
    rich: (key, values) => say(key, values) ?? key,
    number: (n) => number.format(n),
    date,
    clock,
    dateTime: (iso) => t('time.date_time', { date: date(iso), time: clock(iso) }),
    ago: (iso, now = Date.now()) => agoIn(t, iso, now),
  };
}

const STEPS = [
  ['minute', 60, 3600],
  ['hour', 3600, 86_400],
  ['day', 86_400, 86_400 * 45],
  ['month', 86_400 * 30, 86_400 * 365],
  ['year', 86_400 * 365, Infinity],
] as const;

function agoIn(t: Formatter['t'], iso: string, now: number): string {
  const seconds = (new Date(iso).getTime() - now) / 1000;
  const distance = Math.abs(seconds);
  if (distance < 45) return t('time.now');
  const [unit, length] = STEPS.find(([, , below]) => distance < below) ?? STEPS[4];
  return t(`time.${seconds < 0 ? 'ago' : 'in'}_${unit}`, { n: Math.max(1, Math.round(distance / length)) });
}

type Formatters = NonNullable<ConstructorParameters<typeof IntlMessageFormat>[3]>['formatters'];

function formattersOf(locale: string): Formatters {
  const numbers = new Intl.NumberFormat(numberLocale(locale));
  const cardinal = new Intl.PluralRules(locale);
  return {
    getNumberFormat: (_locale, options) => (options ? new Intl.NumberFormat(numberLocale(locale), options) : numbers),
    getDateTimeFormat: (_locale, options) => new Intl.DateTimeFormat(numberLocale(locale), options),
    getPluralRules: (_locale, options) => (options?.type === 'ordinal' ? new Intl.PluralRules(locale, options) : cardinal),
  };
}
