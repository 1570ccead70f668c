/** The operators' questions about companies. */
import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient, type UseMutationResult } from '@tanstack/react-query';
import { api, value, type Schemas } from '@/api/client';
import { PAGE } from '@/api/queries';

export type Company = Schemas['CompanyPage'];

export const companiesQuery = (q: string) =>
  infiniteQueryOptions({
    queryKey: ['companies', { q }],
    queryFn: ({ pageParam, signal }) =>
      value(
        api.GET('/api/orgs', {
          params: { query: { limit: PAGE, ...(q ? { q } : {}), ...(pageParam ? { cursor: pageParam } : {}) } },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });

export const companyQueryOf = (ref: string) =>
  queryOptions({ queryKey: ['companies', 'one', ref], queryFn: () => value(api.GET('/api/orgs/{ref}', { params: { path: { ref } } })) });

/** Change a company; what the server answers is on screen at once. */
export function useChange(
  company: Company,
  onDone: (changed: Schemas['ChangedCompany']) => void,
): UseMutationResult<Schemas['ChangedCompany'], Error, Schemas['CompanyChange']> {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body) => value(api.PATCH('/api/orgs/{ref}', { params: { path: { ref: company.slug } }, body })),
    onSuccess: (changed) => {
      queries.setQueryData(companyQueryOf(company.slug).queryKey, changed);
      void queries.invalidateQueries({ queryKey: ['companies'] });
      onDone(changed);
    },
  });
}

/** A slug people would choose for a name: what the server would make of it, to start from. */
export const slugOf = (name: string): string =>
  name
    .normalize('NFD')
    .replace(/\p{Diacritic}/gu, '')
    .replaceAll('ð', 'd')
    .replaceAll('þ', 'th')
    .replaceAll('æ', 'ae')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 63);

export const isSlug = (text: string): boolean => /^[a-z0-9-]{1,63}$/.test(text);
