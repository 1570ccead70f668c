import { useQuery } from '@tanstack/react-query';
import { Wrench } from 'lucide-react';
import { useState } from 'react';
import { api, value, type Schemas } from '@/api/client';
import { membersQuery } from '@/api/queries';
import { useReadOnly } from '@/app/session';
import { useLanguage } from '@/i18n/language';
import { Badge, SkeletonRows } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { EffectBadge } from '@/ui/Effect';
import { Empty } from '@/ui/Empty';
import { Problem } from '@/ui/Problem';
import { Switch } from '@/ui/Switch';
import { Review } from './Review';
import { useSwitch } from './switching';

type Tool = Schemas['ToolState'];
/** A tool of another server may change at any time. */
const TOOLS = { queryKey: ['tools'], queryFn: () => value(api.GET('/api/tools')), refetchOnMount: 'always' as const };

export function Tools({ locked }: { locked: boolean }) {
  const { t } = useLanguage();
  const tools = useQuery(TOOLS);
  const flip = useSwitch('tools');
  const [reviewed, setReviewed] = useState<Tool | null>(null);
  if (tools.isPending) return <SkeletonRows rows={2} label={t('app.loading')} />;
  if (tools.error) return <div className="p-4"><Problem error={tools.error} onRetry={() => void tools.refetch()} /></div>;
  if (tools.data.items.length === 0) {
    return <Empty level={3} icon={Wrench} title={t('features.no_tools')} body={t('features.no_tools_body')} />;
  }
  return (
    <ul>
      {tools.data.items.map((tool) => (
        <ToolRow
          key={tool.name}
          tool={tool}
          locked={locked}
          onFlip={(enabled) =>
            // What another program says of its tool is read by a person before it is read by a model.
            enabled && tool.digest ? setReviewed(tool) : flip.mutate({ name: tool.name, enabled, digest: tool.digest ?? null })
          }
          onReview={() => setReviewed(tool)}
        />
      ))}
      {reviewed && (
        <Review
          tool={reviewed}
          onTurnOn={() => flip.mutate({ name: reviewed.name, enabled: true, digest: reviewed.digest ?? null })}
          onClose={() => setReviewed(null)}
        />
      )}
    </ul>
  );
}

interface RowProps {
  tool: Tool;
  locked: boolean;
  onFlip: (enabled: boolean) => void;
  onReview: () => void;
}

function ToolRow({ tool, locked, onFlip, onReview }: RowProps) {
  const { t } = useLanguage();
  const readOnly = useReadOnly();
  return (
    <li data-testid="tool" className="flex items-center gap-4 border-b border-line px-4 py-3 last:border-0">
      <div className="min-w-0 flex-1">
        <p data-raw className="font-mono text-sm font-medium break-all">{tool.name}</p>
        <p data-raw className="text-sm wrap-anywhere text-muted">{tool.description}</p>
        <p className="mt-1.5 flex flex-wrap gap-1.5">
          {tool.changed && <Badge tone="danger">{t('features.changed')}</Badge>}
          <EffectBadge effect={tool.effect} />
          {tool.untrusted && <Badge tone="warning">{t('features.untrusted')}</Badge>}
          <Badge>{t('features.needs', { permission: tool.permission })}</Badge>
          <Badge tone="info">{t('features.from', { source: tool.source })}</Badge>
        </p>
        {tool.digest && tool.enabled && <TurnedOn tool={tool} />}
      </div>
      {tool.changed && !locked ? (
        <Button size="small" disabled={readOnly} onClick={onReview}>{t('features.review')}</Button>
      ) : (
        <Switch on={tool.enabled} disabled={locked || readOnly} onChange={onFlip} label={tool.name} />
      )}
    </li>
  );
}

/** Who turned on what another server brings, and when. */
function TurnedOn({ tool }: { tool: Tool }) {
  const { t, ago } = useLanguage();
  const members = useQuery(membersQuery);
  const person = members.data?.find((one) => one.id === tool.switched_by);
  if (!tool.switched_at) return null;
  const when = ago(tool.switched_at);
  return (
    <p className="mt-1.5 text-sm text-muted">
      {person ? t('features.turned_on_by', { name: person.display_name, when }) : t('features.turned_on_when', { when })}
    </p>
  );
}
