/** Questions about companies and what they use, asked by more than one feature. */
import { queryOptions } from '@tanstack/react-query';
import { api, value, type Schemas } from './client';

export type Usage = Schemas['Usage'];
export type Dimension = Usage['dimension'];
export type Span = NonNullable<Usage['window']>;

export const DIMENSIONS: Dimension[] = ['ai.requests', 'ai.tokens.total', 'ai.concurrency', 'storage.bytes', 'jobs.concurrency'];
export const WINDOWS: Span[] = ['minute', 'hour', 'day', 'month', 'total'];
/** Plans that come with the server and have words of their own; its settings may name others. */
export const NAMED_PLANS = ['free', 'team', 'business', 'unlimited'] as const;

export const statusQuery = queryOptions({ queryKey: ['status'], queryFn: () => value(api.GET('/api/admin/status')) });
export const usageQuery = queryOptions({ queryKey: ['usage'], queryFn: async () => (await value(api.GET('/api/usage'))).items });
export const companyQuery = queryOptions({ queryKey: ['company'], queryFn: () => value(api.GET('/api/org')) });
