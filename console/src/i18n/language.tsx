/** The language on screen, and switching it without losing the place. */
import { createContext, use, useCallback, useMemo, useState, type ReactNode } from 'react';
import { formatterOf, type Formatter } from './formatter';
import { loadLocale, type Catalog } from './catalog';

export type { MessageKey } from './messages';
export type { Formatter } from './formatter';

interface Language extends Formatter {
  switchLocale: (locale: string) => Promise<void>;
}

const LanguageContext = createContext<Language | null>(null);

export function useLanguage(): Language {
  const language = use(LanguageContext);
  if (!language) throw new Error('useLanguage needs a LanguageProvider');
  return language;
}

export function LanguageProvider({ first, children }: { first: Catalog; children: ReactNode }) {
  const [catalog, setCatalog] = useState(first);
  const switchLocale = useCallback(async (locale: string) => {
    localStorage.setItem('atrium.locale', locale);
    const found = await loadLocale(locale);
    if (found) setCatalog(found);
  }, []);
  const language = useMemo(() => {
    document.documentElement.lang = catalog.locale;
    return { ...formatterOf(catalog.locale, catalog.messages), switchLocale };
  }, [catalog, switchLocale]);
  return <LanguageContext value={language}>{children}</LanguageContext>;
}

/** Each language in its own words; these names are the same whatever language is on. */
export const LANGUAGE_NAMES: Record<string, string> = { en: 'English', es: 'Español', is: 'Íslenska', nl: 'Nederlands' };
