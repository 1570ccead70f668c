import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Lock, Wrench } from 'lucide-react';
import type { ReactNode } from 'react';
import { api, value, type Schemas } from '@/api/client';
import { identityQuery } from '@/api/queries';
import { isRefusal } from '@/api/refusal';
import { useLanguage } from '@/i18n/language';
import { Page } from '@/app/Page';
import { useMay, useReadOnly } from '@/app/session';
import { Badge, Card, SkeletonRows } from '@/ui/bits';
import { EffectBadge } from '@/ui/Effect';
import { Empty } from '@/ui/Empty';
import { Problem, wordsFor } from '@/ui/Problem';
import { Switch } from '@/ui/Switch';
import { toast } from '@/ui/toast';

const FEATURES = { queryKey: ['features'], queryFn: () => value(api.GET('/api/features')) };
const TOOLS = { queryKey: ['tools'], queryFn: () => value(api.GET('/api/tools')) };
type Kind = 'features' | 'tools';

/** Flips at once, and flips back with a reason when the server refuses. */
function useSwitch(kind: Kind) {
  const language = useLanguage();
  const queries = useQueryClient();
  type List = { items: { name: string; enabled: boolean }[] };
  return useMutation({
    mutationFn: ({ name, enabled }: { name: string; enabled: boolean }): Promise<unknown> =>
      kind === 'features'
        ? value(api.POST('/api/features/{name}', { params: { path: { name } }, body: { enabled } }))
        : value(api.POST('/api/tools/{name}', { params: { path: { name } }, body: { enabled } })),
    onMutate: ({ name, enabled }) => {
      const before = queries.getQueryData<List>([kind]);
      queries.setQueryData<List>(
        [kind],
        (list) => list && { ...list, items: list.items.map((one) => (one.name === name ? { ...one, enabled } : one)) },
      );
      return before;
    },
    onSuccess: (_done, { name, enabled }) => {
      if (kind === 'features') void queries.invalidateQueries(identityQuery);
      toast(
        language.t(enabled ? 'features.turned_on' : 'features.turned_off', { name: language.find(`features.feature_${name}`) ?? name }),
      );
    },
    onError: (error, _change, before) => {
      queries.setQueryData([kind], before);
      if (isRefusal(error)) toast(wordsFor(language, error));
    },
  });
}

export default function FeaturesPage() {
  const { t } = useLanguage();
  const may = useMay()('settings:manage');
  return (
    <Page title={t('nav.features')} description={t('features.lead')}>
      {!may && (
        <p className="mb-5 flex items-center gap-2 rounded-lg bg-info-soft px-3 py-2.5 text-info">
          <Lock size={15} aria-hidden className="shrink-0" />
          {t('features.look_only')}
        </p>
      )}
      <div className="grid items-start gap-8 xl:grid-cols-2">
        <Section title={t('features.flags')} body={t('features.flags_more')}><Flags locked={!may} /></Section>
        <Section title={t('features.tools')} body={t('features.tools_more')}><Tools locked={!may} /></Section>
      </div>
    </Page>
  );
}

function Section({ title, body, children }: { title: string; body: string; children: ReactNode }) {
  return (
    <section className="min-w-0">
      <h2 className="text-lg font-semibold">{title}</h2>
      <p className="mt-0.5 mb-3 text-muted">{body}</p>
      <Card>{children}</Card>
    </section>
  );
}

function Flags({ locked }: { locked: boolean }) {
  const { t, find } = useLanguage();
  const readOnly = useReadOnly();
  const flags = useQuery(FEATURES);
  const flip = useSwitch('features');
  if (flags.isPending) return <SkeletonRows rows={4} label={t('app.loading')} />;
  if (flags.error) return <div className="p-4"><Problem error={flags.error} onRetry={() => void flags.refetch()} /></div>;
  return (
    <ul>
      {flags.data.items.map(({ name, enabled }) => (
        <li key={name} className="flex items-center gap-4 border-b border-line px-4 py-3 last:border-0">
          <div className="min-w-0 flex-1">
            <p className="font-medium">{find(`features.feature_${name}`) ?? <span data-raw>{name}</span>}</p>
            <p className="text-sm text-muted">{find(`features.feature_${name}_more`) ?? ''}</p>
          </div>
          <Switch
            on={enabled}
            disabled={locked || readOnly}
            onChange={(on) => flip.mutate({ name, enabled: on })}
            label={find(`features.feature_${name}`) ?? name}
          />
        </li>
      ))}
    </ul>
  );
}

function Tools({ locked }: { locked: boolean }) {
  const { t } = useLanguage();
  const tools = useQuery(TOOLS);
  const flip = useSwitch('tools');
  if (tools.isPending) return <SkeletonRows rows={2} label={t('app.loading')} />;
  if (tools.error) {
    return (
      <div className="p-4">
        <Problem error={tools.error} onRetry={() => void tools.refetch()} />
      </div>
    );
  }
  if (tools.data.items.length === 0) {
    return <Empty level={3} icon={Wrench} title={t('features.no_tools')} body={t('features.no_tools_body')} />;
  }
  return (
    <ul>
      {tools.data.items.map((tool) => (
        <ToolRow key={tool.name} tool={tool} locked={locked} onFlip={(enabled) => flip.mutate({ name: tool.name, enabled })} />
      ))}
    </ul>
  );
}

function ToolRow({ tool, locked, onFlip }: { tool: Schemas['ToolState']; locked: boolean; onFlip: (enabled: boolean) => void }) {
  const { t } = useLanguage();
  const readOnly = useReadOnly();
  return (
    <li className="flex items-center gap-4 border-b border-line px-4 py-3 last:border-0">
      <div className="min-w-0 flex-1">
        <p data-raw className="font-mono text-sm font-medium">{tool.name}</p>
        <p data-raw className="text-sm text-muted">{tool.description}</p>
        <p className="mt-1.5 flex flex-wrap gap-1.5">
          <EffectBadge effect={tool.effect} />
          {tool.untrusted && <Badge tone="warning">{t('features.untrusted')}</Badge>}
          <Badge>{t('features.needs', { permission: tool.permission })}</Badge>
          <Badge tone="info">{t('features.from', { source: tool.source })}</Badge>
        </p>
      </div>
      <Switch on={tool.enabled} disabled={locked || readOnly} onChange={onFlip} label={tool.name} />
    </li>
  );
}
