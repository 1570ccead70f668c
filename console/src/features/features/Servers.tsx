import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Plug } from 'lucide-react';
import { useEffect } from 'react';
import { api, value, type Schemas } from '@/api/client';
import { useLanguage } from '@/i18n/language';
import { Badge, Code, SkeletonRows } from '@/ui/bits';
import { Empty } from '@/ui/Empty';
import { Problem } from '@/ui/Problem';

const SERVERS = { queryKey: ['mcp'], queryFn: () => value(api.GET('/api/mcp')), refetchInterval: 5_000 };
const TONES = { connected: 'success', connecting: 'info', failed: 'danger' } as const;

/** Servers that bring tools, and how they are. */
export function Servers() {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const servers = useQuery(SERVERS);
  // What they bring is listed with the tools; a server that was just connected brings more.
  const brought = servers.data?.items.flatMap((server) => server.tools).join(' ');
  useEffect(() => {
    if (brought !== undefined) void queries.invalidateQueries({ queryKey: ['tools'] });
  }, [brought, queries]);
  if (servers.isPending) return <SkeletonRows rows={1} label={t('app.loading')} />;
  if (servers.error) return <div className="p-4"><Problem error={servers.error} onRetry={() => void servers.refetch()} /></div>;
  if (servers.data.items.length === 0) {
    return <Empty level={3} icon={Plug} title={t('features.no_servers')} body={t('features.no_servers_body')} />;
  }
  return <ul>{servers.data.items.map((server) => <ServerRow key={server.name} server={server} />)}</ul>;
}

function ServerRow({ server }: { server: Schemas['McpServerState'] }) {
  const { t } = useLanguage();
  return (
    <li data-testid="server" className="border-b border-line px-4 py-3 last:border-0">
      <p className="flex flex-wrap items-center gap-2">
        <span data-raw className="font-medium">{server.name}</span>
        <Badge tone={TONES[server.state]}>{t(`features.state_${server.state}`)}</Badge>
        <Badge>{t(`features.transport_${server.transport}`)}</Badge>
      </p>
      <p className="mt-1 text-sm text-muted">{t('features.brings', { count: server.tools.length })}</p>
      {server.error && <p data-raw className="mt-1 text-sm text-danger">{server.error}</p>}
      {server.left_out.length > 0 && (
        <div className="mt-1 text-sm text-muted">
          <p>{t('features.left_out', { count: server.left_out.length })}</p>
          <ul className="mt-1 grid gap-1">
            {server.left_out.map((one) => (
              <li key={one.tool}><Code>{one.tool}</Code> <span data-raw>{one.reason}</span></li>
            ))}
          </ul>
        </div>
      )}
    </li>
  );
}
