import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import { KeyRound, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { api, value, type Schemas } from '@/api/client';
import { PAGE } from '@/api/queries';
import { useLanguage } from '@/i18n/language';
import { Page } from '@/app/Page';
import { useReadOnly } from '@/app/session';
import { TokenGave, type Gave } from '@/app/TokenGave';
import { Badge } from '@/ui/bits';
import { buttonClass } from '@/ui/Button';
import { Confirm } from '@/ui/Confirm';
import { Empty } from '@/ui/Empty';
import { ListPage } from '@/ui/ListPage';
import { IconButton } from '@/ui/Overlay';
import { Row, Table, type Column } from '@/ui/Table';
import { toast } from '@/ui/toast';

type Token = Schemas['Token'];

export default function TokensPage() {
  const { t } = useLanguage();
  const readOnly = useReadOnly();
  const [revoking, setRevoking] = useState<Token | null>(null);
  const [revoked, setRevoked] = useState<Gave | null>(null);
  const tokens = useInfiniteQuery({
    queryKey: ['tokens'],
    queryFn: ({ pageParam }) =>
      value(api.GET('/api/tokens', { params: { query: { limit: PAGE, ...(pageParam ? { cursor: pageParam } : {}) } } })),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
  const items = tokens.data?.pages.flatMap((page) => page.items);
  const create = !readOnly && (
    <Link to="/settings/tokens/new" className={buttonClass('primary')}>
      <Plus size={16} aria-hidden />
      {t('nav.new_token')}
    </Link>
  );
  return (
    <Page title={t('nav.tokens')} description={t('tokens.lead')} actions={create}>
      <ListPage
        query={tokens}
        rows={3}
        empty={items?.length === 0 && <Empty icon={KeyRound} title={t('tokens.none_title')} body={t('tokens.none_body')} action={create} />}
      >
        {items && items.length > 0 && <TokenTable tokens={items} onRevoke={setRevoking} />}
      </ListPage>
      {revoking && <Revoke token={revoking} onRevoked={setRevoked} onClose={() => setRevoking(null)} />}
      {revoked && revoked.gave.length > 0 && <TokenGave {...revoked} onClose={() => setRevoked(null)} />}
      <Outlet />
    </Page>
  );
}

function TokenTable({ tokens, onRevoke }: { tokens: Token[]; onRevoke: (token: Token) => void }) {
  const { t } = useLanguage();
  const columns: Column[] = [
    { label: t('tokens.name') },
    { label: t('tokens.scope'), className: 'max-lg:hidden' },
    { label: t('tokens.last_used'), className: 'whitespace-nowrap max-sm:hidden' },
    { label: t('tokens.expires'), className: 'max-md:hidden' },
    { label: t('tokens.revoke'), silent: true },
  ];
  return (
    <Table columns={columns}>
      {tokens.map((token) => <TokenRow key={token.id} token={token} onRevoke={onRevoke} />)}
    </Table>
  );
}

const SHOWN_SCOPES = 2;

function TokenRow({ token, onRevoke }: { token: Token; onRevoke: (token: Token) => void }) {
  const { t, ago } = useLanguage();
  const readOnly = useReadOnly();
  const soon = token.expires_at !== null && new Date(token.expires_at).getTime() - Date.now() < 7 * 86_400_000;
  return (
    <Row>
      <td className="max-w-0 px-4 py-3 sm:w-2/5">
        <span data-raw className="block truncate font-medium">{token.name}</span>
        <span className="block truncate text-sm text-muted">
          {t('tokens.made_by', { name: token.username, when: ago(token.created_at) })}
        </span>
      </td>
      <td className="px-4 py-3 max-lg:hidden">
        <div className="flex flex-wrap gap-1">
          {token.scope === null ? (
            <Badge tone="accent">{t('tokens.scope_all')}</Badge>
          ) : (
            token.scope.slice(0, SHOWN_SCOPES).map((one) => (
              <Badge key={one}>
                <span data-raw className="font-mono">{one}</span>
              </Badge>
            ))
          )}
          {token.scope && token.scope.length > SHOWN_SCOPES && (
            <Badge>{t('tokens.scope_more', { n: token.scope.length - SHOWN_SCOPES })}</Badge>
          )}
        </div>
      </td>
      <td className="px-4 py-3 text-sm whitespace-nowrap text-muted max-sm:hidden">
        {token.last_used_at ? ago(token.last_used_at) : t('tokens.never_used')}
      </td>
      <td className="px-4 py-3 text-sm whitespace-nowrap max-md:hidden">
        {token.expires_at === null ? (
          <Badge tone="warning">{t('tokens.never_expires')}</Badge>
        ) : (
          <span className={soon ? 'text-warning' : 'text-muted'}>{ago(token.expires_at)}</span>
        )}
      </td>
      <td className="pe-2">
        {!readOnly && (
          <IconButton label={t('tokens.revoke_name', { name: token.name })} onClick={() => onRevoke(token)}>
            <Trash2 size={15} aria-hidden />
          </IconButton>
        )}
      </td>
    </Row>
  );
}

interface RevokeProps {
  token: Token;
  onRevoked: (what: Gave) => void;
  onClose: () => void;
}

function Revoke({ token, onRevoked, onClose }: RevokeProps) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => value(api.DELETE('/api/tokens/{id}', { params: { path: { id: token.id } } })),
    onSuccess: ({ gave = [] }) => {
      void queries.invalidateQueries({ queryKey: ['tokens'] });
      toast(t('tokens.revoked', { name: token.name }));
      onClose();
      onRevoked({ name: token.name, gave });
    },
  });
  return (
    <Confirm
      title={t('tokens.revoke_title', { name: token.name })}
      body={t('tokens.revoke_body')}
      action={t('tokens.revoke')}
      busy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate()}
      onClose={onClose}
    />
  );
}
