import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Puzzle } from 'lucide-react';
import { pluginsQuery, type PluginCard as Plugin } from '@/api/plugins';
import { Page } from '@/app/Page';
import { titleOf } from '@/app/plugin-pages';
import { useLanguage } from '@/i18n/language';
import { Badge, Card, Code, SkeletonRows } from '@/ui/bits';
import { Empty } from '@/ui/Empty';
import { Problem } from '@/ui/Problem';

export default function PluginsPage() {
  const { t } = useLanguage();
  const plugins = useQuery(pluginsQuery);
  return (
    <Page title={t('nav.plugins')} description={t('plugins.lead')}>
      {plugins.isPending && <Card><SkeletonRows rows={3} label={t('app.loading')} /></Card>}
      {plugins.error && <Problem error={plugins.error} onRetry={() => void plugins.refetch()} />}
      {plugins.data?.items.length === 0 && (
        <Card><Empty icon={Puzzle} title={t('plugins.none_title')} body={t('plugins.none_body')} /></Card>
      )}
      <ul className="grid gap-4 lg:grid-cols-2">
        {plugins.data?.items.map((plugin) => <li key={plugin.id}><PluginCard plugin={plugin} /></li>)}
      </ul>
    </Page>
  );
}

function PluginCard({ plugin }: { plugin: Plugin }) {
  const { t, locale } = useLanguage();
  const parts = (
    [
      ['tools', plugin.tools],
      ['workflows', plugin.workflows],
      ['job_kinds', plugin.job_kinds],
      ['routes', plugin.routes],
    ] as const
  ).filter(([, found]) => found.length > 0);
  return (
    <Card className="h-full p-5">
      <div className="flex items-start gap-3.5">
        <span className="grid size-10 shrink-0 place-items-center rounded-lg bg-accent-soft text-link">
          <Puzzle size={19} aria-hidden />
        </span>
        <div className="min-w-0 flex-1">
          <h2 data-raw className="truncate text-lg font-semibold">{plugin.name}</h2>
          <p data-raw className="truncate font-mono text-xs text-muted">{plugin.id}</p>
        </div>
        <Badge>
          <span data-raw>{plugin.version}</span>
        </Badge>
      </div>
      <p data-raw className="mt-3 text-muted">{plugin.description}</p>
      {plugin.page && (
        <p className="mt-3">
          <Link data-raw to="/plugins/$id" params={{ id: plugin.id } as never} className="font-medium text-link hover:underline">
            {titleOf(plugin, locale)}
          </Link>
        </p>
      )}
      {parts.length > 0 && (
        <dl className="mt-4 grid gap-3 border-t border-line pt-4">
          {parts.map(([name, found]) => (
            <div key={name}>
              <dt className="mb-1 text-sm font-medium">{t(`plugins.${name}`, { n: found.length })}</dt>
              <dd className="flex flex-wrap gap-1.5">{found.map((one) => <Code key={one}>{one}</Code>)}</dd>
            </div>
          ))}
        </dl>
      )}
    </Card>
  );
}
