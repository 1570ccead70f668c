/** The team's triggers, what they did lately, and what is left of the AI budget they spend. */
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Plus, Zap } from 'lucide-react';
import { isRefusal } from '@/api/refusal';
import type { Usage } from '@/api/companies';
import { useLanguage } from '@/i18n/language';
import { Page } from '@/app/Page';
import { useMay, useReadOnly } from '@/app/session';
import { Badge, Card } from '@/ui/bits';
import { buttonClass } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { ListPage } from '@/ui/ListPage';
import { dimensionKey, Meter } from '@/ui/Meter';
import { wordsFor } from '@/ui/Problem';
import { Switch } from '@/ui/Switch';
import { toast } from '@/ui/toast';
import { changeTrigger, triggersQuery } from './server';
import type { BudgetLine, Trigger } from './shapes';
import { nameOf, outcomeWords } from './trigger-words';

export default function TriggersPage() {
  const { t } = useLanguage();
  const may = useMay();
  const readOnly = useReadOnly();
  const triggers = useInfiniteQuery(triggersQuery);
  const items = triggers.data?.pages.flatMap((page) => page.items);
  const budget = triggers.data?.pages[0]?.budget ?? [];
  const make = may('workflows:write') && !readOnly && (
    <Link to="/triggers/new" className={buttonClass('primary')}>
      <Plus size={15} aria-hidden />
      {t('nav.new_trigger')}
    </Link>
  );
  const empty = <Empty icon={Zap} title={t('triggers.none_title')} body={t('triggers.none_body')} action={make} />;
  return (
    <Page title={t('nav.triggers')} description={t('triggers.lead')} actions={make}>
      <ListPage query={triggers} empty={items?.length === 0 && empty}>
        {items && items.length > 0 && <ul>{items.map((one) => <Row key={one.id} trigger={one} locked={!make} />)}</ul>}
      </ListPage>
      <Budget lines={budget} />
    </Page>
  );
}

function Budget({ lines }: { lines: BudgetLine[] }) {
  const { t } = useLanguage();
  if (lines.length === 0) return null;
  return (
    <section aria-label={t('triggers.budget')} className="mt-8">
      <h2 className="mb-1 font-semibold">{t('triggers.budget')}</h2>
      <p className="mb-3 text-sm text-muted">{t('triggers.budget_more')}</p>
      <div className="grid gap-4 sm:grid-cols-2">
        {lines.map((line) => {
          const name = t(dimensionKey(line.dimension));
          return (
            <Card key={`${line.level} ${line.dimension} ${line.window}`} className="p-4">
              <h3 className="mb-1 text-sm text-muted">{name} · {t(`triggers.level_${line.level}`)}</h3>
              <Meter line={{ ...line, reserved: 0 } as Usage} label={name} />
            </Card>
          );
        })}
      </div>
    </section>
  );
}

function Row({ trigger, locked }: { trigger: Trigger; locked: boolean }) {
  const language = useLanguage();
  const { t, ago, number } = language;
  const flip = useFlip();
  const { id, enabled, last_fire: last } = trigger;
  return (
    <li data-testid="trigger" className="flex items-center gap-4 border-b border-line px-4 py-3 last:border-0 hover:bg-raised/60">
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-2">
          <Link to="/triggers/$id" params={{ id }} className="inline-flex min-h-6 items-center font-medium hover:underline">
            <span data-raw className="wrap-anywhere">{nameOf(trigger)}</span>
          </Link>
          {!enabled && <Badge>{t('triggers.off')}</Badge>}
        </p>
        <Match trigger={trigger} />
        <p className="mt-1 flex flex-wrap gap-x-3 text-sm text-muted tnum">
          <span>{t('triggers.last_day', { fired: number(trigger.fired_24h), skipped: number(trigger.skipped_24h) })}</span>
          {last && <span>{t('triggers.last', { when: ago(last.at), what: outcomeWords(language, last) })}</span>}
        </p>
      </div>
      <Switch on={enabled} disabled={locked || flip.isPending} label={nameOf(trigger)} onChange={(on) => flip.mutate({ id, on })} />
    </li>
  );
}

/** Which files start what. */
export function Match({ trigger }: { trigger: Pick<Trigger, 'workflow_slug' | 'match_prefix' | 'match_types' | 'fire_on_derived'> }) {
  const { t } = useLanguage();
  const { match_types: types, match_prefix: prefix, workflow_slug: slug, fire_on_derived: derived } = trigger;
  return (
    <p className="mt-0.5 flex flex-wrap items-center gap-1.5 text-sm">
      <Badge tone="info"><span data-raw>{slug}</span></Badge>
      <Badge>{prefix ? <span data-raw className="font-mono">{prefix}</span> : t('triggers.any_key')}</Badge>
      {types.length ? types.map((one) => <Badge key={one}><span data-raw>{one}</span></Badge>) : <Badge>{t('triggers.any_type')}</Badge>}
      {derived && <Badge>{t('triggers.also_derived')}</Badge>}
    </p>
  );
}

export function useFlip() {
  const language = useLanguage();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ id, on }: { id: string; on: boolean }) => changeTrigger(id, { enabled: on }),
    onSuccess: (now) => toast(language.t(now.enabled ? 'triggers.turned_on' : 'triggers.turned_off', { name: nameOf(now) })),
    onError: (error) => isRefusal(error) && toast(wordsFor(language, error)),
    onSettled: () => queries.invalidateQueries({ queryKey: ['triggers'] }),
  });
}
