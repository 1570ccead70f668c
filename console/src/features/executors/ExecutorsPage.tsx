/** The machines that run jobs and models for this company, how they are, and which one is used for what. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { CircleCheckBig, CircleHelp, Cpu, Plus, Power, Server, TriangleAlert } from 'lucide-react';
import { useRef, useState } from 'react';
import { api, value } from '@/api/client';
import { useLanguage } from '@/i18n/language';
import { Page } from '@/app/Page';
import { useIdentity, useMay, useReadOnly } from '@/app/session';
import { Badge, Code } from '@/ui/bits';
import { buttonClass } from '@/ui/Button';
import { Confirm } from '@/ui/Confirm';
import { Empty } from '@/ui/Empty';
import { ListPage } from '@/ui/ListPage';
import { IconButton } from '@/ui/Overlay';
import { useRowKeys } from '@/ui/rows';
import { toast } from '@/ui/toast';
import { executorsQuery, isRetirable, listOf, serves, type Executor } from './queries';

export default function ExecutorsPage({ everybody = false }: { everybody?: boolean }) {
  const { t } = useLanguage();
  const may = useMay();
  const identity = useIdentity();
  const readOnly = useReadOnly();
  const [retiring, setRetiring] = useState<Executor | null>(null);
  const list = useRef<HTMLUListElement>(null);
  useRowKeys(list);
  const executors = useQuery(executorsQuery);
  const shown = executors.data?.filter((executor) => everybody || serves(executor, identity.org.id));
  const path = useRouterState({ select: (state) => state.location.pathname });
  const create = !readOnly && (may('org:manage') || may('instance:manage')) && (
    <Link to={`${listOf(path)}/new`} className={buttonClass('primary')}>
      <Plus size={16} aria-hidden />
      {t('nav.new_executor')}
    </Link>
  );
  return (
    <Page title={t('nav.executors')} description={t(everybody ? 'executors.lead_everybody' : 'executors.lead')} actions={create}>
      <ListPage query={executors} rows={3}>
        <ul ref={list}>
          {shown?.map((executor) => (
            <Row
              key={executor.id ?? executor.name}
              executor={executor}
              own={executor.org_id === identity.org.id}
              retirable={isRetirable(executor, identity)}
              onRetire={setRetiring}
            />
          ))}
        </ul>
        {shown?.length === 1 && <Empty icon={Cpu} title={t('executors.none_title')} body={t('executors.none_body')} action={create} />}
      </ListPage>
      {retiring && <Retire executor={retiring} onClose={() => setRetiring(null)} />}
      <Outlet />
    </Page>
  );
}

function Row({
  executor,
  own,
  retirable,
  onRetire,
}: {
  executor: Executor;
  own: boolean;
  retirable: boolean;
  onRetire: (executor: Executor) => void;
}) {
  const { t, ago } = useLanguage();
  const { name, mode, model, capabilities, company, last_seen_at } = executor;
  const Icon = mode === 'local' ? Server : Cpu;
  return (
    <li
      data-row
      data-testid="executor"
      tabIndex={-1}
      className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-4 py-3 -outline-offset-2 last:border-0"
    >
      <Icon size={18} aria-hidden className="shrink-0 text-muted" />
      <div className="min-w-0 flex-1 basis-56">
        <p className="flex flex-wrap items-center gap-2">
          <b data-raw className="truncate font-medium">{name}</b>
          <Badge>{t(`executors.mode_${mode}`)}</Badge>
          {own ? (
            <Badge tone="accent">{t('executors.company_only')}</Badge>
          ) : (
            company && (
              <Badge>
                <span data-raw>{company}</span>
              </Badge>
            )
          )}
        </p>
        <p className="mt-0.5 flex flex-wrap gap-x-3 gap-y-1 text-sm text-muted">
          <span>
            {mode === 'local'
              ? t('executors.local_more')
              : last_seen_at
                ? t('executors.seen', { when: ago(last_seen_at) })
                : t('executors.never_seen')}
          </span>
          {model && <Code>{model}</Code>}
          {capabilities.map((kind) => <Code key={kind}>{kind}</Code>)}
        </p>
      </div>
      <Health executor={executor} />
      {retirable && (
        <IconButton label={t('executors.retire_name', { name })} onClick={() => onRetire(executor)}>
          <Power size={15} aria-hidden />
        </IconButton>
      )}
    </li>
  );
}

function Health({ executor: { healthy } }: { executor: Executor }) {
  const { t } = useLanguage();
  if (healthy === null) {
    return (
      <Badge>
        <CircleHelp size={12} aria-hidden />
        {t('executors.unknown')}
      </Badge>
    );
  }
  return healthy ? (
    <Badge tone="success">
      <CircleCheckBig size={12} aria-hidden />
      {t('executors.healthy')}
    </Badge>
  ) : (
    <Badge tone="warning">
      <TriangleAlert size={12} aria-hidden />
      {t('executors.silent')}
    </Badge>
  );
}

function Retire({ executor, onClose }: { executor: Executor; onClose: () => void }) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const { name } = executor;
  const retire = useMutation({
    mutationFn: () => value(api.DELETE('/api/executors/{id}', { params: { path: { id: executor.id ?? '' } } })),
    onSuccess: () => {
      for (const queryKey of [['executors'], ['model-roles']]) void queries.invalidateQueries({ queryKey });
      toast(t('executors.retired', { name }));
      onClose();
    },
  });
  return (
    <Confirm
      title={t('executors.retire_title', { name })}
      body={t('executors.retire_body')}
      action={t('executors.retire')}
      busy={retire.isPending}
      error={retire.error}
      onConfirm={() => retire.mutate()}
      onClose={onClose}
    />
  );
}
