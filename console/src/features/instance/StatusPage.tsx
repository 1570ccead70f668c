import { useQuery } from '@tanstack/react-query';
import { CircleCheckBig, RefreshCw, TriangleAlert } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import type { Schemas } from '@/api/client';
import { statusQuery } from '@/api/companies';
import { useLanguage } from '@/i18n/language';
import { lazyPart } from '@/app/lazily';
import { Page } from '@/app/Page';
import { OPERATOR, useMay } from '@/app/session';
import { Badge, Card, SkeletonRows } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { Problem } from '@/ui/Problem';

type Status = Schemas['Status'];
const COUNTS = ['orgs', 'teams', 'users', 'notes', 'tokens', 'audit_events'] as const;

export default function StatusPage() {
  const { t } = useLanguage();
  const may = useMay();
  const status = useQuery(statusQuery);
  return (
    <Page
      title={t('nav.status')}
      description={t('instance.lead')}
      actions={
        <Button busy={status.isFetching} onClick={() => void status.refetch()}>
          {!status.isFetching && <RefreshCw size={14} aria-hidden />}
          {t('ui.refresh')}
        </Button>
      }
    >
      {status.isPending && <Card><SkeletonRows rows={6} label={t('app.loading')} /></Card>}
      <Problem error={status.error} onRetry={() => void status.refetch()} />
      {status.data && <Shown status={status.data} />}
      {status.data && <CheckupSwitch />}
      {status.data && may(OPERATOR) && <MetricsSwitch />}
    </Page>
  );
}

function Shown({ status }: { status: Status }) {
  const { t, number } = useLanguage();
  const failed = Object.entries(status.failed_plugins);
  return (
    <div className="grid gap-5">
      <dl className="grid grid-cols-2 gap-3 sm:grid-cols-3 xl:grid-cols-6">
        {COUNTS.map((name) => (
          <Card key={name} className="p-4">
            <dt className="text-sm text-muted">{t(`instance.${name}`, { n: status.counts[name] })}</dt>
            <dd data-raw className="mt-1 text-2xl font-semibold tnum">{number(status.counts[name])}</dd>
          </Card>
        ))}
      </dl>
      <div className="grid items-start gap-5 lg:grid-cols-2">
        <Facts title={t('instance.safety')}>
          <Fact name={t('instance.tls')} note={t(status.tls ? 'instance.tls_on_more' : 'instance.tls_off_more')}>
            <State good={status.tls} text={t(status.tls ? 'instance.on' : 'instance.off')} />
          </Fact>
          <Fact name={t('instance.at_rest')} note={t('instance.at_rest_more')}>
            <Badge tone="success">
              <span data-raw>{status.secrets_at_rest}</span>
            </Badge>
          </Fact>
          <Fact name={t('instance.kdf')} note={t('instance.kdf_more')}>
            <Badge tone="success">
              <span data-raw>{status.kdf}</span>
            </Badge>
          </Fact>
          <Backup backup={status.backup} />
        </Facts>
        <Facts title={t('instance.software')}>
          <Fact name={t('instance.version')} note={t('instance.version_more')}>
            <Badge>
              <span data-raw>{status.version}</span>
            </Badge>
          </Fact>
          <Fact name={t('instance.schema')} note={t('instance.schema_more')}>
            <Badge>
              <span data-raw>{status.schema_version}</span>
            </Badge>
          </Fact>
          <Fact name={t('instance.multitenant')} note={t('instance.multitenant_more')}>
            <Badge>{t(status.multitenant ? 'instance.on' : 'instance.off')}</Badge>
          </Fact>
        </Facts>
      </div>
      <Facts title={t('instance.plugins')}>
        {failed.length === 0 ? (
          <p className="flex items-center gap-2 p-4 text-success">
            <CircleCheckBig size={16} aria-hidden />
            {t('instance.plugins_fine')}
          </p>
        ) : (
          failed.map(([id, reason]) => (
            <div key={id} className="flex gap-3 border-b border-line p-4 last:border-0">
              <TriangleAlert size={16} className="mt-0.5 shrink-0 text-danger" aria-hidden />
              <div>
                <p data-raw className="font-medium">{id}</p>
                <p data-raw className="text-sm break-words text-muted">{reason}</p>
              </div>
            </div>
          ))
        )}
      </Facts>
    </div>
  );
}

const Checkup = lazyPart(() => import('./Checkup'));

/** Run only when asked for: it writes to the file store and calls the models. */
function CheckupSwitch() {
  const { t } = useLanguage();
  const [open, setOpen] = useState(false);
  return <div className="mt-5">{open ? <Checkup /> : <Button onClick={() => setOpen(true)}>{t('instance.checkup_run')}</Button>}</div>;
}

/** How old the newest backup is: good when it was verified and another was not due long ago. */
function Backup({ backup }: { backup: Status['backup'] }) {
  const { t, ago } = useLanguage();
  const taken = backup?.taken_at;
  const state = !backup ? 'off' : !taken ? 'none' : backup.faults ? 'faulty' : 'made';
  const late = taken && backup.hours > 0 && Date.now() - Date.parse(taken) > 2 * backup.hours * 3_600_000;
  return (
    <Fact name={t('instance.backup')} note={t(state === 'made' ? 'instance.backup_more' : `instance.backup_${state}_more`)}>
      <State
        good={state === 'made' && !late}
        text={state === 'off' ? t('instance.off') : state === 'made' ? ago(taken ?? '') : t(`instance.backup_${state}`)}
      />
    </Fact>
  );
}

const Metrics = lazyPart(() => import('./Metrics'));

/** Read only when asked for: collecting them is work for the server. */
function MetricsSwitch() {
  const { t } = useLanguage();
  const [open, setOpen] = useState(false);
  return <div className="mt-5">{open ? <Metrics /> : <Button onClick={() => setOpen(true)}>{t('instance.metrics_show')}</Button>}</div>;
}

function State({ good, text }: { good: boolean; text: string }) {
  const Icon = good ? CircleCheckBig : TriangleAlert;
  return <Badge tone={good ? 'success' : 'warning'}><Icon size={12} aria-hidden />{text}</Badge>;
}

function Facts({ title, children }: { title: string; children: ReactNode }) {
  return <Card><h2 className="border-b border-line px-4 py-3 font-semibold">{title}</h2><div>{children}</div></Card>;
}

function Fact({ name, note, children }: { name: string; note: string; children: ReactNode }) {
  return (
    <div className="flex items-center gap-4 border-b border-line px-4 py-3 last:border-0">
      <div className="min-w-0 flex-1">
        <p className="font-medium">{name}</p>
        <p className="text-sm text-muted">{note}</p>
      </div>
      {children}
    </div>
  );
}
