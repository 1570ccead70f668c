/** The team's workflows: those that plugins bring and those it wrote. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Plus, Workflow } from 'lucide-react';
import { useLanguage } from '@/i18n/language';
import { OutcomeBadge } from '@/app/outcome';
import { Page } from '@/app/Page';
import { useMay, useReadOnly } from '@/app/session';
import { Badge, Card } from '@/ui/bits';
import { buttonClass } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { ListPage } from '@/ui/ListPage';
import { LinkedRow, Table } from '@/ui/Table';
import { workflowsQuery } from './server';
import type { WorkflowSummary } from './shapes';
import { sourceWords } from './words';

export default function WorkflowsPage() {
  const { t } = useLanguage();
  const may = useMay();
  const readOnly = useReadOnly();
  const found = useInfiniteQuery(workflowsQuery);
  const items = found.data?.pages.flatMap((page) => page.items);
  const writes = may('workflows:write') && !readOnly;
  const write = writes && (
    <Link to="/workflows/_new" className={buttonClass('primary')}>
      <Plus size={15} aria-hidden />
      {t('nav.new_workflow')}
    </Link>
  );
  const isTaught = writes && items !== undefined && items.length > 0 && !items.some(({ source }) => source === 'team');
  return (
    <Page title={t('nav.workflows')} description={t('workflows.lead')} actions={write}>
      <ListPage
        query={found}
        empty={
          items?.length === 0 && (
            <Empty icon={Workflow} title={t('workflows.none_title')} body={t('workflows.none_body')} action={write} />
          )
        }
      >
        {items && items.length > 0 && <List items={items} />}
      </ListPage>
      {isTaught && (
        <Card className="mt-5">
          <Empty
            icon={Workflow}
            title={t('workflows.own_title')}
            body={t('workflows.own_body')}
            action={<Link to="/workflows/_new" className={buttonClass()}>{t('workflows.try_example')}</Link>}
          />
        </Card>
      )}
    </Page>
  );
}

function List({ items }: { items: WorkflowSummary[] }) {
  const { t } = useLanguage();
  const columns = [
    { label: t('workflows.name') },
    { label: t('workflows.source'), className: 'max-md:hidden' },
    { label: t('workflows.version'), className: 'max-sm:hidden', align: 'end' as const },
    { label: t('workflows.last_run') },
  ];
  return <Table columns={columns}>{items.map((one) => <Row key={one.slug} workflow={one} />)}</Table>;
}

function Row({ workflow }: { workflow: WorkflowSummary }) {
  const language = useLanguage();
  const { t, ago, number } = language;
  const { slug, title, source, version, steps, last_run: last } = workflow;
  return (
    <LinkedRow>
      <td className="px-4 py-3">
        <Link
          data-row
          to="/workflows/$slug"
          params={{ slug }}
          className="inline-flex min-h-6 items-center font-medium after:absolute after:inset-0 hover:underline"
        >
          <span data-raw className="wrap-anywhere">{title || slug}</span>
        </Link>
        <p className="text-sm text-muted"><span data-raw>{slug}</span> · {t('workflows.steps', { n: steps })}</p>
      </td>
      <td className="px-4 py-3 max-md:hidden">
        <Badge tone={source === 'team' ? 'accent' : 'neutral'}>{sourceWords(language, source)}</Badge>
      </td>
      <td className="px-4 py-3 text-end tnum max-sm:hidden">{number(version)}</td>
      <td className="px-4 py-3">
        {last ? (
          <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
            <OutcomeBadge standing={last} />
            <time dateTime={last.created_at} className="text-sm text-muted">{ago(last.created_at)}</time>
          </span>
        ) : (
          <span className="text-sm text-muted">{t('workflows.never_ran')}</span>
        )}
      </td>
    </LinkedRow>
  );
}
