/** What the server says about executors. */
import { queryOptions } from '@tanstack/react-query';
import { api, value, type Schemas } from '@/api/client';

export type Executor = Schemas['Executor'];
export type NewExecutor = Schemas['NewExecutor'];
export type Draft = Schemas['CompanyExecutorDraft'];

export const executorsQuery = queryOptions({ queryKey: ['executors'], queryFn: async () => (await value(api.GET('/api/executors'))).items, refetchInterval: 10_000 });
export const rolesQuery = queryOptions({ queryKey: ['model-roles'], queryFn: () => value(api.GET('/api/model-roles')) });
