/** The language on screen, and switching it without losing the place. */
import { createContext, use, useCallback, useMemo, useState, type ReactNode } from 'react';
import { formatterOf, type Formatter, type Hear } from './formatter';
import { loadLocale, type Catalog } from './catalog';

export type { MessageKey } from './messages';
export type { Formatter } from './formatter';

interface Language extends Formatter {
  switchLocale: (locale: string) => Promise<void>;
  /** Everything on screen is said again, and heard. */
  listen: (to: { hear?: Hear }) => void;
}

const LanguageContext = createContext<Language | null>(null);

export function useLanguage(): Language {
  const language = use(LanguageContext);
  if (!language) throw new Error('useLanguage needs a LanguageProvider');
  return language;
}

export function LanguageProvider({ first, children }: { first: Catalog; children: ReactNode }) {
  const [catalog, setCatalog] = useState(first);
  const [{ hear }, listen] = useState<{ hear?: Hear }>({});
  const switchLocale = useCallback(async (locale: string) => {
    localStorage.setItem('atrium.locale', locale);
    const found = await loadLocale(locale);
    if (found) setCatalog(found);
  }, []);
  const language = useMemo(() => {
    document.documentElement.lang = catalog.locale;
    return { ...formatterOf(catalog.locale, catalog.messages, hear), switchLocale, listen };
  }, [catalog, switchLocale, hear]);
  return <LanguageContext value={language}>{children}</LanguageContext>;
}

const LANGUAGE_NAMES: Record<string, string> = { en: 'English', es: 'Español', is: 'Íslenska', nl: 'Nederlands' };

/** A language in its own words, the same whatever language is on; those that do not ship are named by CLDR. */
export function languageName(locale: string): string {
  return LANGUAGE_NAMES[locale] ?? new Intl.DisplayNames([locale, 'en'], { type: 'language' }).of(locale) ?? locale;
}
