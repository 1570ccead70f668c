/** One trigger: what it waits for, and every file that it started something for, or why not. */
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { ArrowLeft, CircleCheckBig, CircleSlash, PenLine, Trash2, Zap } from 'lucide-react';
import { useState } from 'react';
import { membersQuery } from '@/api/queries';
import { useLanguage } from '@/i18n/language';
import { OutcomeBadge } from '@/app/outcome';
import { Page } from '@/app/Page';
import { useMay, useReadOnly } from '@/app/session';
import { Card } from '@/ui/bits';
import { Button, buttonClass } from '@/ui/Button';
import { Confirm } from '@/ui/Confirm';
import { Empty } from '@/ui/Empty';
import { ListPage } from '@/ui/ListPage';
import { Switch } from '@/ui/Switch';
import { toast } from '@/ui/toast';
import { Json } from './Output';
import { useMemberName } from './Reach';
import { deleteTrigger, triggerQuery } from './server';
import type { Fire, Trigger } from './shapes';
import { nameOf, outcomeWords } from './trigger-words';
import { Absent } from './Absent';
import { Match, useFlip } from './TriggersPage';

export default function TriggerPage() {
  const { t, number } = useLanguage();
  const { id = '' } = useParams({ strict: false });
  const may = useMay();
  const readOnly = useReadOnly();
  const found = useInfiniteQuery(triggerQuery(id));
  const flip = useFlip();
  const trigger = found.data?.pages[0]?.value;
  const who = useMemberName(trigger?.maker_id ?? null);
  if (!trigger) return <Absent of="triggers" error={found.error} onRetry={() => void found.refetch()} />;
  const fires = found.data!.pages.flatMap((page) => page.value.fires.items);
  const writes = may('workflows:write') && !readOnly;
  return (
    <Page title={nameOf(trigger)} raw actions={writes && <Actions trigger={trigger} />}>
      <Link to="/triggers" className="mb-4 -mt-3 inline-flex h-7 items-center gap-1.5 text-sm text-muted hover:text-text">
        <ArrowLeft size={14} aria-hidden />
        {t('nav.triggers')}
      </Link>
      <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <section aria-label={t('triggers.history')} className="min-w-0">
          <h2 className="mb-2 font-semibold">{t('triggers.history')}</h2>
          <ListPage
            query={found}
            empty={
              fires.length === 0 && <Empty icon={Zap} title={t('triggers.no_fires')} body={t('triggers.no_fires_body')} level={3} />
            }
          >
            <ul>{fires.map((fire) => <FireRow key={fire.id} fire={fire} />)}</ul>
          </ListPage>
        </section>
        <Card className="grid gap-4 p-4">
          <div className="flex items-center justify-between gap-3">
            <h2 className="font-semibold">{t('triggers.waits_for')}</h2>
            <Switch
              on={trigger.enabled}
              disabled={!writes || flip.isPending}
              label={t('triggers.enabled')}
              onChange={(on) => flip.mutate({ id, on })}
            />
          </div>
          <Match trigger={trigger} />
          {who !== undefined && <p className="text-sm">{who ? t('triggers.maker', { who }) : t('triggers.maker_none')}</p>}
          <p className="text-sm">{t(trigger.allow_egress ? 'triggers.egress' : 'triggers.egress_not')}</p>
          <p className="text-sm text-muted tnum">
            {t('triggers.last_day', { fired: number(trigger.fired_24h), skipped: number(trigger.skipped_24h) })}
          </p>
          <Link
            to="/runs"
            search={{ trigger: id } as never}
            className="inline-flex h-6 w-fit items-center text-sm text-link hover:underline"
          >
            {t('triggers.its_runs')}
          </Link>
          {Object.keys(trigger.input).length > 0 && (
            <section className="grid gap-2">
              <h3 className="text-sm font-medium text-muted">{t('triggers.gives')}</h3>
              <Json content={trigger.input} label={t('triggers.gives')} />
            </section>
          )}
        </Card>
      </div>
    </Page>
  );
}

function Actions({ trigger }: { trigger: Trigger }) {
  const { t } = useLanguage();
  const [deleting, setDeleting] = useState(false);
  return (
    <>
      <Button kind="danger-ghost" onClick={() => setDeleting(true)}><Trash2 size={15} aria-hidden />{t('triggers.delete')}</Button>
      <Link to="/triggers/$id/edit" params={{ id: trigger.id }} className={buttonClass()}>
        <PenLine size={15} aria-hidden />
        {t('triggers.change')}
      </Link>
      {deleting && <Delete trigger={trigger} onClose={() => setDeleting(false)} />}
    </>
  );
}

function Delete({ trigger, onClose }: { trigger: Trigger; onClose: () => void }) {
  const { t } = useLanguage();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const drop = useMutation({
    mutationFn: () => deleteTrigger(trigger.id),
    onSuccess: async () => {
      toast(t('triggers.deleted', { name: nameOf(trigger) }));
      await navigate({ to: '/triggers' });
      await queries.invalidateQueries({ queryKey: ['triggers'] });
    },
  });
  return (
    <Confirm
      title={t('triggers.delete_title', { name: nameOf(trigger) })}
      body={t('triggers.delete_body')}
      action={t('triggers.delete')}
      busy={drop.isPending}
      error={drop.error}
      onConfirm={() => drop.mutate()}
      onClose={onClose}
    />
  );
}

function FireRow({ fire }: { fire: Fire }) {
  const language = useLanguage();
  const { t, ago, dateTime, number } = language;
  const members = useQuery(membersQuery);
  const fired = fire.outcome === 'fired';
  const Icon = fired ? CircleCheckBig : CircleSlash;
  const by = fire.by && (members.data?.find(({ id }) => id === fire.by?.user_id)?.display_name ?? fire.by.username);
  return (
    <li
      data-testid="fire"
      data-outcome={fire.outcome}
      className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-4 py-3 last:border-0"
    >
      <Icon size={16} aria-hidden className={fired ? 'shrink-0 text-success' : 'shrink-0 text-muted'} />
      <div className="min-w-0 flex-1 basis-52">
        <p className="flex flex-wrap items-center gap-x-2">
          {fire.object_id && fire.key !== null ? (
            <Link to="/files/$id" params={{ id: fire.object_id }} className="inline-flex min-h-6 items-center font-medium hover:underline">
              <span data-raw className="break-all">{fire.key}</span>
            </Link>
          ) : (
            <span className="text-muted">{t('triggers.hidden_file')}</span>
          )}
          <span className="text-sm text-muted">{t('versions.version', { n: number(fire.version.number) })}</span>
        </p>
        <p className="text-sm text-muted">{outcomeWords(language, fire)}</p>
      </div>
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
        {by && <span data-raw>{by}</span>}
        <time dateTime={fire.at} title={dateTime(fire.at)}>{ago(fire.at)}</time>
        {fire.standing && <OutcomeBadge standing={fire.standing} />}
        {fire.run_id && (
          <Link to="/runs/$id" params={{ id: fire.run_id }} className="inline-flex h-6 items-center text-link hover:underline">
            {t('triggers.its_run')}
          </Link>
        )}
      </p>
    </li>
  );
}
