/** The language that this person translates into, as long as the address names none. */
import type { LocaleCoverage } from './queries';

const KEY = 'atrium.desk.locale';

export const rememberLocale = (locale: string): void => localStorage.setItem(KEY, locale);

/** The one of last time, else the one with most to do. */
export function usualLocale(locales: LocaleCoverage[]): string {
  const last = localStorage.getItem(KEY);
  if (last && locales.some(({ locale }) => locale === last)) return last;
  return [...locales].sort((one, other) => other.missing - one.missing)[0]?.locale ?? '';
}
