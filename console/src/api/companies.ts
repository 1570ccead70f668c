/** Questions about companies and what they use, asked by more than one feature. */
import { queryOptions } from '@tanstack/react-query';
import { api, value, type Schemas } from './client';

export type Usage = Schemas['Usage'];
export type Dimension = Usage['dimension'];
export type Span = Usage['window'];
export type Plan = NonNullable<Schemas['NewCompany']['plan']>;

export const DIMENSIONS: Dimension[] = ['ai.requests', 'ai.tokens.total', 'ai.concurrency', 'storage.bytes', 'jobs.concurrency'];
export const WINDOWS: Span[] = ['minute', 'hour', 'day', 'month', 'total'];
export const PLANS: Plan[] = ['free', 'team', 'business', 'unlimited'];

export const usageQuery = queryOptions({ queryKey: ['usage'], queryFn: async () => (await value(api.GET('/api/usage'))).items });
export const companyQuery = queryOptions({ queryKey: ['company'], queryFn: () => value(api.GET('/api/org')) });
