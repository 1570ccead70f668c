/** A list from the server, whatever became of it: on its way, refused, empty, there, and more of it to come. */
import type { ReactNode } from 'react';
import { useLanguage } from '@/i18n/language';
import { Card, SkeletonRows } from './bits';
import { Button } from './Button';
import { Problem } from './Problem';

/** What of a query a list needs to know. */
interface Asked {
  isPending: boolean;
  error: Error | null;
  refetch: () => unknown;
  hasNextPage?: boolean;
  isFetchingNextPage?: boolean;
  fetchNextPage?: () => unknown;
}

interface BodyProps {
  query: Asked;
  /** How many rows it probably has: as many outlines stand there while it is on its way. */
  rows?: number;
  /** What stands there instead of no rows. */
  empty?: ReactNode;
  children: ReactNode;
}

interface Props extends BodyProps {
  /** Above the rows, as a field to search in. */
  head?: ReactNode;
}

export function ListPage({ head, ...body }: Props) {
  return (
    <Card className="overflow-hidden">
      {head}
      <ListBody {...body} />
    </Card>
  );
}

/** The same without a card around it. */
export function ListBody({ query, rows, empty, children }: BodyProps) {
  const { t } = useLanguage();
  return (
    <>
      {query.isPending && <SkeletonRows {...(rows ? { rows } : {})} label={t('app.loading')} />}
      {query.error && <div className="p-4"><Problem error={query.error} onRetry={() => void query.refetch()} /></div>}
      {empty}
      {children}
      {query.hasNextPage && (
        <div className="p-3">
          <Button className="w-full" busy={query.isFetchingNextPage ?? false} onClick={() => void query.fetchNextPage?.()}>
            {t('ui.more')}
          </Button>
        </div>
      )}
    </>
  );
}
