/** The pages that plugins bring, for the sidebar and the palette. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { pluginsQuery, type PluginCard } from '@/api/plugins';
import { useLanguage } from '@/i18n/language';

/** What a plugin's page is called in a language; a plugin that does not say is called by its name. */
export const titleOf = ({ page, name }: Pick<PluginCard, 'page' | 'name'>, locale: string): string =>
  page?.[locale] ?? page?.[locale.split('-')[0]!] ?? page?.en ?? name;

export function usePluginPages(): { to: string; title: string }[] {
  const { locale } = useLanguage();
  const { data } = useQuery(pluginsQuery);
  return useMemo(
    () => (data?.items ?? []).filter(({ page }) => page).map((one) => ({ to: `/plugins/${one.id}`, title: titleOf(one, locale) })),
    [data, locale],
  );
}
