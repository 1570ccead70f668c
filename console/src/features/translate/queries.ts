/** The caller's own translations, and their team's glossary. */
import { infiniteQueryOptions } from '@tanstack/react-query';
import { api, value, type Schemas } from '@/api/client';
import { PAGE } from '@/api/queries';

export type Translation = Schemas['Translation'];
export type StoredTranslation = Schemas['StoredTranslation'];
export type Term = Schemas['GlossaryTerm'];
export type Draft = Schemas['TranslationAsk'];
export type Format = Translation['format'];
export const FORMATS: Format[] = ['text', 'markdown', 'html', 'icu'];

export const historyQuery = infiniteQueryOptions({
  queryKey: ['translations'],
  queryFn: ({ pageParam, signal }) =>
    value(api.GET('/api/translate', { params: { query: { limit: 10, ...(pageParam ? { cursor: pageParam } : {}) } }, signal })),
  initialPageParam: '',
  getNextPageParam: (page) => page.next_cursor ?? undefined,
});

export const glossaryQuery = (target: string, q: string) =>
  infiniteQueryOptions({
    queryKey: ['glossary', { target, q }],
    queryFn: ({ pageParam, signal }) =>
      value(
        api.GET('/api/glossary', {
          params: {
            query: { limit: PAGE, ...(target ? { target } : {}), ...(q ? { q } : {}), ...(pageParam ? { cursor: pageParam } : {}) },
          },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
