/** One entity: its names, what it is related to, the documents that mention it, and what was merged into it. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowLeft, FileText, Merge, SearchX } from 'lucide-react';
import { useState } from 'react';
import { isRefusal } from '@/api/refusal';
import { lazyDialog } from '@/app/lazy-dialog';
import { Page } from '@/app/Page';
import { useUnpinGone } from '@/app/pins';
import { useMay, useReadOnly } from '@/app/session';
import { useLanguage } from '@/i18n/language';
import { Card, SkeletonRows } from '@/ui/bits';
import { Button, buttonClass } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { ListPage } from '@/ui/ListPage';
import { Problem } from '@/ui/Problem';
import { MergedList } from './MergedList';
import { Neighbourhood } from './Neighbourhood';
import { grouped } from './neighbours';
import { entityQuery, type EntityDetail, type Mention } from './queries';
import { TypeBadge } from './words';

const MergeDialog = lazyDialog(() => import('./MergeDialog'));

export default function EntityPage({ id }: { id: string }) {
  const { t } = useLanguage();
  const query = useInfiniteQuery(entityQuery(id));
  const [first] = query.data?.pages ?? [];
  const gone = isRefusal(query.error) && query.error.status === 404;
  useUnpinGone(gone);
  if (first) return <Found key={id} entity={first} query={query} mentions={query.data!.pages.flatMap((page) => page.mentions.items)} />;
  if (gone) {
    return (
      <Page title={t('knowledge.missing_title')}>
        <Card>
          <Empty
            icon={SearchX}
            title={t('knowledge.missing_title')}
            body={t('knowledge.missing_body')}
            action={<Link to="/knowledge" className={buttonClass()}>{t('nav.knowledge')}</Link>}
          />
        </Card>
      </Page>
    );
  }
  return (
    <Page title={t('app.loading')}>
      {query.error ? (
        <Problem error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <Card><SkeletonRows label={t('app.loading')} /></Card>
      )}
    </Page>
  );
}

interface Props {
  entity: EntityDetail;
  mentions: Mention[];
  query: Parameters<typeof ListPage>[0]['query'];
}

function Found({ entity, mentions, query }: Props) {
  const { t } = useLanguage();
  const may = useMay();
  const readOnly = useReadOnly();
  const [merging, setMerging] = useState(false);
  const merges = may('files:manage') && !readOnly;
  return (
    <Page
      title={entity.name}
      raw
      actions={
        merges && (
          <Button onClick={() => setMerging(true)}>
            <Merge size={15} aria-hidden />
            {t('knowledge.merge')}
          </Button>
        )
      }
    >
      <Link to="/knowledge" className="mb-4 -mt-3 inline-flex h-7 items-center gap-1.5 text-sm text-muted hover:text-text">
        <ArrowLeft size={14} aria-hidden />
        {t('nav.knowledge')}
      </Link>
      <Card className="mb-5 flex flex-wrap items-center gap-x-6 gap-y-2 p-4">
        <TypeBadge type={entity.type} />
        <span className="text-sm text-muted tnum">{t('knowledge.documents', { n: entity.documents })}</span>
        {entity.aliases.length > 0 && (
          <p className="min-w-0 text-sm text-muted">
            {t('knowledge.also')} <span data-raw className="wrap-anywhere text-text">{entity.aliases.join(' · ')}</span>
          </p>
        )}
      </Card>
      <Neighbourhood entity={entity} />
      {entity.merged.length > 0 && <MergedList entity={entity} undoes={merges} />}
      <section aria-labelledby="mentions" className="mt-6">
        <h2 id="mentions" className="mb-3 font-semibold">{t('knowledge.mentioned_in')}</h2>
        <ListPage query={query}><Documents mentions={mentions} /></ListPage>
      </section>
      {merging && <MergeDialog entity={entity} onClose={() => setMerging(false)} />}
    </Page>
  );
}

/** Mentions come document by document. */
function Documents({ mentions }: { mentions: Mention[] }) {
  const documents = grouped(mentions, (one) => one.object_id);
  return (
    <ul>
      {documents.map((quotes) => (
        <li key={quotes[0]!.object_id} data-testid="document" className="border-b border-line px-4 py-3 last:border-0">
          <p className="flex items-center gap-2">
            <FileText size={16} aria-hidden className="shrink-0 text-muted" />
            <Link
              to="/files/$id"
              params={{ id: quotes[0]!.object_id }}
              className="min-w-0 truncate leading-6 font-medium hover:underline"
            >
              <span data-raw>{quotes[0]!.key}</span>
            </Link>
          </p>
          <ul className="mt-1 grid gap-1 ps-6">
            {/* Two that were merged may be named in the same words. */}
            {grouped(quotes, ({ at, quote }) => `${at} ${quote}`).map(([one]) => <Quote key={one!.at + one!.quote} mention={one!} />)}
          </ul>
        </li>
      ))}
    </ul>
  );
}

/** A quote leads to its place in the text. */
function Quote({ mention: { object_id: id, quote, at } }: { mention: Mention }) {
  const to = at + [...quote].length;
  return (
    <li>
      <Link
        to="/files/$id"
        params={{ id }}
        search={{ view: 'text', from: at, to } as never}
        className="inline-block min-h-6 border-s-2 border-line ps-3 text-sm text-muted hover:border-accent hover:text-text"
      >
        <q data-raw className="wrap-anywhere">{quote}</q>
      </Link>
    </li>
  );
}
