/** Keys with which any S3 client reaches the team's files as this person. */
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import { KeySquare, Plus, Trash2 } from 'lucide-react';
import { useRef, useState } from 'react';
import { api, value, type Schemas } from '@/api/client';
import { useLanguage } from '@/i18n/language';
import { lazyDialog } from '@/app/lazy-dialog';
import { Page } from '@/app/Page';
import { useReadOnly } from '@/app/session';
import { Badge, Card, Code } from '@/ui/bits';
import { buttonClass } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { ListPage } from '@/ui/ListPage';
import { IconButton } from '@/ui/Overlay';
import { useRowKeys } from '@/ui/rows';
import { HIDDEN } from './clients';
import { Setup } from './Setup';

type Key = Schemas['AccessKey'];
const RevokeKey = lazyDialog(() => import('./RevokeKey'));

export default function KeysPage() {
  const { t } = useLanguage();
  const readOnly = useReadOnly();
  const [revoking, setRevoking] = useState<Key | null>(null);
  const list = useRef<HTMLUListElement>(null);
  useRowKeys(list);
  const keys = useQuery({ queryKey: ['s3-keys'], queryFn: () => value(api.GET('/api/s3/credentials')) });
  const create = !readOnly && (
    <Link to="/settings/s3-keys/new" className={buttonClass('primary')}>
      <Plus size={16} aria-hidden />
      {t('nav.new_s3_key')}
    </Link>
  );
  return (
    <Page title={t('nav.s3_keys')} description={t('s3.lead')} actions={create}>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
        <ListPage
          query={keys}
          rows={2}
          empty={
            keys.data?.items.length === 0 && <Empty icon={KeySquare} title={t('s3.none_title')} body={t('s3.none_body')} action={create} />
          }
        >
          <ul ref={list}>
            {keys.data?.items.map((key) => (
              <Row key={key.id} accessKey={key} revocable={!readOnly} onRevoke={setRevoking} />
            ))}
          </ul>
        </ListPage>
        {keys.data && <Where keys={keys.data} />}
      </div>
      {revoking && <RevokeKey accessKey={revoking} onClose={() => setRevoking(null)} />}
      <Outlet />
    </Page>
  );
}

function Row({ accessKey, revocable, onRevoke }: { accessKey: Key; revocable: boolean; onRevoke: (key: Key) => void }) {
  const { t, ago } = useLanguage();
  const { scope, prefix, access_key_id, created_at, last_used_at } = accessKey;
  return (
    <li
      data-row
      tabIndex={-1}
      className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-4 py-3 -outline-offset-2 last:border-0"
    >
      <div className="min-w-0 flex-1 basis-56">
        <p className="flex flex-wrap items-center gap-2">
          <b data-raw className="truncate font-medium">{accessKey.name || '–'}</b>
          {scope === null ? (
            <Badge tone="accent">{t('s3.reach_all')}</Badge>
          ) : (
            scope.map((one) => (
              <Badge key={one}>
                <span data-raw className="font-mono">{one}</span>
              </Badge>
            ))
          )}
          {prefix && (
            <Badge>
              {t('s3.below')}{' '}
              <span data-raw className="font-mono">{prefix}</span>
            </Badge>
          )}
        </p>
        <p className="mt-0.5 flex flex-wrap gap-x-3 text-sm text-muted">
          <Code>{access_key_id}</Code>
          <span>{t('s3.made', { when: ago(created_at) })}</span>
          <span>{last_used_at ? t('s3.used', { when: ago(last_used_at) }) : t('s3.never_used')}</span>
        </p>
      </div>
      {revocable && (
        <IconButton label={t('s3.revoke_name', { name: accessKey.name || access_key_id })} onClick={() => onRevoke(accessKey)}>
          <Trash2 size={15} aria-hidden />
        </IconButton>
      )}
    </li>
  );
}

/** Where clients connect to, with the newest key filled in; its secret was shown once. */
function Where({ keys }: { keys: Schemas['AccessKeys'] }) {
  const { t } = useLanguage();
  const facts = [['endpoint', keys.endpoint], ['bucket', keys.bucket], ['region', keys.region]] as const;
  return (
    <Card className="p-5">
      <h2 className="text-lg font-semibold">{t('s3.setup')}</h2>
      <p className="mt-0.5 mb-4 text-muted">{t('s3.setup_lead')}</p>
      <dl className="mb-5 grid gap-4 sm:grid-cols-3">
        {facts.map(([name, text]) => (
          <div key={name} className="min-w-0">
            <dt className="text-sm text-muted">{t(`s3.${name}`)}</dt>
            <dd data-raw className="mt-0.5 font-mono text-sm break-all">{text}</dd>
          </div>
        ))}
      </dl>
      <Setup
        access={{
          endpoint: keys.endpoint,
          bucket: keys.bucket,
          region: keys.region,
          access_key_id: keys.items[0]?.access_key_id ?? HIDDEN,
          secret_access_key: HIDDEN,
        }}
      />
    </Card>
  );
}
