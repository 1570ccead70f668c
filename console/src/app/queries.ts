import { QueryClient, type InvalidateOptions, type InvalidateQueryFilters } from '@tanstack/react-query';
import { Refusal } from '@/api/refusal';

/**
 * A query client whose `invalidateQueries` also covers a query that is still loading for the first time. The library lets
 * such a load finish and calls its answer fresh, although the server may have given it before the change.
 */
class Queries extends QueryClient {
  override async invalidateQueries<Key extends readonly unknown[]>(
    filters?: InvalidateQueryFilters<Key>,
    options?: InvalidateOptions,
  ): Promise<void> {
    const narrower = filters?.predicate as ((query: unknown) => boolean) | undefined;
    await this.cancelQueries({ ...filters, predicate: (query) => query.state.data === undefined && (narrower?.(query) ?? true) });
    await super.invalidateQueries(filters, options);
  }
}

/** A refusal is an answer and is not asked for again; only silence is. */
export function makeQueries(): QueryClient {
  const retry = (count: number, error: Error) => count < 2 && error instanceof Refusal && (error.unreachable || error.status >= 502);
  return new Queries({
    defaultOptions: { queries: { staleTime: 10_000, retry, networkMode: 'always' }, mutations: { networkMode: 'always' } },
  });
}
