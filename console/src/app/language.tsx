/** The language on screen, and switching it without losing the place. */
import { createContext, use, useCallback, useMemo, useState, type ReactNode } from 'react';
import { speechOf, type Speech } from './speech';

export type { MessageKey } from './messages';
export type { Speech } from './speech';

interface Language extends Speech {
  speak: (locale: string) => Promise<void>;
}

export interface Catalog {
  locale: string;
  messages: Record<string, string>;
}

const LanguageContext = createContext<Language | null>(null);

export function useLanguage(): Language {
  const language = use(LanguageContext);
  if (!language) throw new Error('useLanguage needs a LanguageProvider');
  return language;
}

export function LanguageProvider({ first, children }: { first: Catalog; children: ReactNode }) {
  const [catalog, setCatalog] = useState(first);
  const speak = useCallback(async (locale: string) => {
    localStorage.setItem('atrium.locale', locale);
    const answer = await fetch(`/api/i18n/catalog?locale=${encodeURIComponent(locale)}`);
    if (answer.ok) setCatalog((await answer.json()) as Catalog);
  }, []);
  const language = useMemo(() => {
    document.documentElement.lang = catalog.locale;
    return { ...speechOf(catalog.locale, catalog.messages), speak };
  }, [catalog, speak]);
  return <LanguageContext value={language}>{children}</LanguageContext>;
}

/** Each language in its own words; these names are the same whatever language is on. */
export const LANGUAGE_NAMES: Record<string, string> = { en: 'English', es: 'Español', is: 'Íslenska', nl: 'Nederlands' };
