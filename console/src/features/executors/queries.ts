/** What the server says about executors. */
import { queryOptions } from '@tanstack/react-query';
import { api, value, type Schemas } from '@/api/client';
import type { Identity } from '@/api/queries';

export type Executor = Schemas['Executor'];
export type NewExecutor = Schemas['NewExecutor'];
export type Draft = Schemas['CompanyExecutorDraft'];

export const executorsQuery = queryOptions({
  queryKey: ['executors'],
  queryFn: async () => (await value(api.GET('/api/executors'))).items,
  refetchInterval: 10_000,
});
export const rolesQuery = queryOptions({ queryKey: ['model-roles'], queryFn: () => value(api.GET('/api/model-roles')) });

/** Whether it works for this company; operators also see machines that serve others. */
export const serves = ({ org_id }: Pick<Executor, 'org_id'>, company: string): boolean => org_id === null || org_id === company;

/** The list an address below Settings belongs to. */
export const listOf = (path: string): string =>
  path.startsWith('/settings/instance/') ? '/settings/instance/executors' : '/settings/executors';

/** A company retires its own machines, an operator any; this server itself stays. */
export function isRetirable(
  { id, org_id }: Pick<Executor, 'id' | 'org_id'>,
  { operator, org, permissions }: Pick<Identity, 'operator' | 'org' | 'permissions'>,
): boolean {
  if (id === null) return false;
  return (operator && permissions.includes('instance:manage')) || (org_id === org.id && permissions.includes('org:manage'));
}
