/** What acts for somebody without a browser: their API tokens and S3 keys, each of which can be ended. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, value, type Schemas } from '@/api/client';
import type { Member } from '@/api/queries';
import { SkeletonRows } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { Dialog, DialogActions } from '@/ui/Overlay';
import { Problem } from '@/ui/Problem';
import { toast } from '@/ui/toast';
import { useLanguage } from '@/i18n/language';
import { useMay } from '../session';
import { TokenGave, type Gave } from '../TokenGave';
import type { PersonDialog } from './dialog';

interface Held {
  id: string;
  name: string;
  last_used_at: string | null;
}

/** The team's tokens are listed together; these are one person's. */
async function tokensOf({ id }: Member): Promise<Held[]> {
  const found: Schemas['Token'][] = [];
  let cursor: string | null | undefined;
  do {
    const page: Schemas['Page_Token_'] = await value(
      api.GET('/api/tokens', { params: { query: { limit: 200, ...(cursor ? { cursor } : {}) } } }),
    );
    found.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor);
  return found.filter((token) => token.user_id === id);
}

async function keysOf({ id }: Member): Promise<Held[]> {
  const { items } = await value(api.GET('/api/s3/credentials', { params: { query: { user: id } } }));
  return items.map((key) => ({ ...key, name: key.name || key.access_key_id }));
}

/** Ending one tells what it gave, which stays. */
const endKey = (id: string): Promise<Gave['gave']> =>
  value(api.DELETE('/api/s3/credentials/{id}', { params: { path: { id } } })).then(() => []);
const endToken = (id: string): Promise<Gave['gave']> =>
  value(api.DELETE('/api/tokens/{id}', { params: { path: { id } } })).then(({ gave = [] }) => gave);

const KINDS = { keys: { list: keysOf, end: endKey }, tokens: { list: tokensOf, end: endToken } };
type Kind = keyof typeof KINDS;

export default function Credentials({ person, onClose }: PersonDialog) {
  const { t } = useLanguage();
  const may = useMay();
  const [ended, setEnded] = useState<Gave | null>(null);
  if (ended && ended.gave.length > 0) return <TokenGave {...ended} onClose={() => setEnded(null)} />;
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('members.credentials_title', { name: person.display_name })}
      description={t('members.credentials_lead')}
    >
      <div className="grid gap-5">
        <List person={person} kind="keys" onEnded={setEnded} />
        {may('settings:manage') && <List person={person} kind="tokens" onEnded={setEnded} />}
      </div>
      <DialogActions><Button kind="primary" onClick={onClose}>{t('ui.done')}</Button></DialogActions>
    </Dialog>
  );
}

interface ListProps {
  person: Member;
  kind: Kind;
  onEnded: (what: Gave) => void;
}

function List({ person, kind, onEnded }: ListProps) {
  const { t } = useLanguage();
  const held = useQuery({ queryKey: ['credentials', person.id, kind], queryFn: () => KINDS[kind].list(person) });
  return (
    <section>
      <h3 className="mb-1 text-sm font-semibold">{t(`members.${kind}`)}</h3>
      {held.isPending && <SkeletonRows rows={1} label={t('app.loading')} />}
      {held.error && <Problem error={held.error} onRetry={() => void held.refetch()} />}
      {held.data?.length === 0 && <p className="text-muted">{t(`members.no_${kind}`)}</p>}
      <ul className="divide-y divide-line">
        {held.data?.map((one) => <Row key={one.id} one={one} person={person} kind={kind} onEnded={onEnded} />)}
      </ul>
    </section>
  );
}

function Row({ one, person, kind, onEnded }: ListProps & { one: Held }) {
  const { t, ago } = useLanguage();
  const queries = useQueryClient();
  const [sure, setSure] = useState(false);
  const end = useMutation({
    mutationFn: () => KINDS[kind].end(one.id),
    onSuccess: (gave) => {
      onEnded({ name: one.name, gave });
      void queries.invalidateQueries({ queryKey: ['credentials', person.id] });
      void queries.invalidateQueries({ queryKey: ['tokens'] });
      toast(t('members.credential_ended', { name: one.name }));
    },
  });
  return (
    <li data-testid="credential" className="flex flex-wrap items-center gap-x-3 gap-y-2 py-2">
      <span className="min-w-0 flex-1 basis-40">
        <span data-raw className="block truncate">{one.name}</span>
        <span className="block text-sm text-muted">
          {one.last_used_at ? t('members.used', { when: ago(one.last_used_at) }) : t('members.never_used')}
        </span>
      </span>
      {sure ? (
        <>
          <Button size="small" kind="ghost" onClick={() => setSure(false)}>{t('ui.cancel')}</Button>
          <Button size="small" kind="danger" busy={end.isPending} autoFocus onClick={() => end.mutate()}>
            {t('members.end_now')}
          </Button>
        </>
      ) : (
        <Button size="small" aria-label={t('members.end_name', { name: one.name })} onClick={() => setSure(true)}>
          {t('members.end')}
        </Button>
      )}
      <Problem error={end.error} />
    </li>
  );
}
