import { useQuery } from '@tanstack/react-query';
import { Lock } from 'lucide-react';
import type { ReactNode } from 'react';
import { api, value } from '@/api/client';
import { useLanguage } from '@/i18n/language';
import { Page } from '@/app/Page';
import { useMay, useReadOnly } from '@/app/session';
import { Card, SkeletonRows } from '@/ui/bits';
import { Problem } from '@/ui/Problem';
import { Switch } from '@/ui/Switch';
import { Assistant } from './Assistant';
import { Guests } from './Guests';
import { Servers } from './Servers';
import { useSwitch } from './switching';
import { Tools } from './Tools';

const FEATURES = { queryKey: ['features'], queryFn: () => value(api.GET('/api/features')) };

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
      <div className="grid grid-cols-1 items-start gap-8 xl:grid-cols-2 xl:grid-rows-[auto_1fr]">
        <Section title={t('features.flags')} body={t('features.flags_more')}><Flags locked={!may} /></Section>
        <div className="xl:row-span-2">
          <Section title={t('features.tools')} body={t('features.tools_more')}><Tools locked={!may} /></Section>
        </div>
        <div className="grid min-w-0 gap-8">
          <Section title={t('features.servers')} body={t('features.servers_more')}><Servers /></Section>
          <Section title={t('features.guests')} body={t('features.guests_more')}><Guests /></Section>
          <Section title={t('features.assistant')} body={t('features.assistant_more')}><Assistant /></Section>
        </div>
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
