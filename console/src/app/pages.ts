/** Every page behind sign-in, from each folder below src/features. Loaded after sign-in, so that the sign-in form does not wait for it. */
import { OF_FEATURES } from '@/i18n/feature-namespaces';
import type { Feature, PageRoute } from './feature';

const found = import.meta.glob<Feature>('../features/*/index.ts', { eager: true, import: 'default' });

const withWords = (pages: PageRoute[], words: string[]): PageRoute[] =>
  pages.map(({ children, ...page }) => ({ ...page, words, ...(children && { children: withWords(children, words) }) }));

const SETTINGS: PageRoute = { path: '/settings', load: () => import('./SettingsPage') };

export const PAGES = [
  SETTINGS,
  ...Object.entries(found).flatMap(([path, feature]) => withWords(feature.pages, OF_FEATURES[path.split('/')[2]!]?.split(' ') ?? [])),
];
