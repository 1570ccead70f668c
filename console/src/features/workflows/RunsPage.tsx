/** The team's runs, newest first, as they go on and end. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import clsx from 'clsx';
import { CirclePlay } from 'lucide-react';
import { useRef } from 'react';
import { useLanguage } from '@/i18n/language';
import { Page } from '@/app/Page';
import { Button, buttonClass } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { ListPage } from '@/ui/ListPage';
import { useRowKeys } from '@/ui/rows';
import { RunRow } from './RunRow';
import { RUN_STATES, runsQuery, triggersQuery, workflowNamesQuery, type RunFilter } from './server';
import { nameOf } from './trigger-words';

/** Absent stands for all. */
type Change = { [Name in keyof RunFilter]?: RunFilter[Name] | undefined };

export default function RunsPage() {
  const { t } = useLanguage();
  const [filter, change] = useFilter();
  const runs = useInfiniteQuery(runsQuery(filter));
  const items = runs.data?.pages.flatMap((page) => page.items);
  const list = useRef<HTMLUListElement>(null);
  useRowKeys(list);
  const empty = Object.keys(filter).length ? (
    <Empty
      icon={CirclePlay}
      title={t('runs.none_such')}
      body={t('runs.none_such_body')}
      action={<Button onClick={() => change(null)}>{t('runs.all')}</Button>}
    />
  ) : (
    <Empty
      icon={CirclePlay}
      title={t('runs.none_title')}
      body={t('runs.none_body')}
      action={<Link to="/workflows" className={buttonClass('primary')}>{t('runs.choose_workflow')}</Link>}
    />
  );
  return (
    <Page title={t('nav.runs')} description={t('runs.lead')}>
      <Filter filter={filter} onChange={change} />
      <ListPage query={runs} empty={items?.length === 0 && empty}>
        {items && items.length > 0 && <ul ref={list}>{items.map((run) => <RunRow key={run.id} run={run} />)}</ul>}
      </ListPage>
    </Page>
  );
}

function useFilter(): [RunFilter, (change: Change | null) => void] {
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const navigate = useNavigate();
  const text = (name: string) => (typeof search[name] === 'string' && search[name] !== '' ? search[name] : undefined);
  const given: Change = {
    state: RUN_STATES.find((one) => one === search.state),
    workflow: text('workflow'),
    trigger: text('trigger'),
    mine: search.mine ? true : undefined,
  };
  const without = (all: Change) => Object.fromEntries(Object.entries(all).filter(([, one]) => one !== undefined)) as RunFilter;
  const filter = without(given);
  return [
    filter,
    (change) => void navigate({ to: '/runs', search: (change === null ? {} : without({ ...filter, ...change })) as never, replace: true }),
  ];
}

function Filter({ filter, onChange }: { filter: RunFilter; onChange: (change: Change) => void }) {
  const { t } = useLanguage();
  const workflows = useQuery(workflowNamesQuery);
  const triggers = useInfiniteQuery({ ...triggersQuery, refetchInterval: false });
  const known = triggers.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2">
      <div role="group" aria-label={t('runs.filter')} className="flex w-fit flex-wrap rounded-md bg-raised p-0.5">
        {[undefined, ...RUN_STATES].map((one) => (
          <Choice key={one ?? 'all'} on={filter.state === one} onChoose={() => onChange({ state: one })}>
            {t(one ? `runs.state_${one}` : 'runs.all')}
          </Choice>
        ))}
      </div>
      <select
        aria-label={t('runs.of_workflow')}
        value={filter.workflow ?? ''}
        onChange={(event) => onChange({ workflow: event.target.value || undefined })}
        className="field h-8 w-auto max-w-56 pe-8"
      >
        <option value="">{t('runs.every_workflow')}</option>
        {filter.workflow && !workflows.data?.some(({ slug }) => slug === filter.workflow) && (
          <option value={filter.workflow} data-raw>{filter.workflow}</option>
        )}
        {workflows.data?.map(({ slug, title }) => <option key={slug} value={slug} data-raw>{title || slug}</option>)}
      </select>
      {(known.length > 0 || filter.trigger) && (
        <select
          aria-label={t('runs.of_trigger')}
          value={filter.trigger ?? ''}
          onChange={(event) => onChange({ trigger: event.target.value || undefined })}
          className="field h-8 w-auto max-w-56 pe-8"
        >
          <option value="">{t('runs.every_trigger')}</option>
          {filter.trigger && !known.some(({ id }) => id === filter.trigger) && (
            <option value={filter.trigger} data-raw>{filter.trigger}</option>
          )}
          {known.map((trigger) => <option key={trigger.id} value={trigger.id} data-raw>{nameOf(trigger)}</option>)}
        </select>
      )}
      <div className="flex rounded-md bg-raised p-0.5">
        <Choice on={filter.mine === true} onChoose={() => onChange({ mine: filter.mine ? undefined : true })}>{t('runs.mine')}</Choice>
      </div>
    </div>
  );
}

function Choice({ on, onChoose, children }: { on: boolean; onChoose: () => void; children: string }) {
  return (
    <button
      type="button"
      aria-pressed={on}
      onClick={onChoose}
      className={clsx('h-7 rounded-sm px-2.5 text-sm font-medium', on ? 'bg-surface text-text shadow-card' : 'text-muted hover:text-text')}
    >
      {children}
    </button>
  );
}
