/** Where somebody is signed in, and how to end it there. */
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { Laptop, MailOpen, Smartphone, Terminal } from 'lucide-react';
import { api, value, type Schemas } from '@/api/client';
import { PAGE } from '@/api/queries';
import { useLanguage } from '@/i18n/language';
import { Badge, SkeletonRows } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { Problem } from '@/ui/Problem';
import { toast } from '@/ui/toast';
import { deviceOf } from './devices';
import { Panel } from './Panel';

type Session = Schemas['OpenSession'];
const KEY = { queryKey: ['sessions'] };

export function SessionsPanel() {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const sessions = useInfiniteQuery({
    ...KEY,
    queryFn: ({ pageParam }) =>
      value(api.GET('/api/sessions', { params: { query: { limit: PAGE, ...(pageParam ? { cursor: pageParam } : {}) } } })),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
  const others = useMutation({
    mutationFn: () => value(api.DELETE('/api/sessions')),
    onSuccess: ({ ended }) => {
      void queries.invalidateQueries(KEY);
      toast(t('account.sessions_ended', { n: ended }));
    },
  });
  const items = sessions.data?.pages.flatMap((page) => page.items);
  return (
    <Panel title={t('account.sessions')} body={t('account.sessions_lead')}>
      {sessions.isPending && <SkeletonRows rows={2} label={t('app.loading')} />}
      <Problem error={sessions.error ?? others.error} />
      {items && (
        <ul aria-label={t('account.sessions')} className="divide-y divide-line">
          {items.map((session) => <SessionRow key={session.id} session={session} />)}
        </ul>
      )}
      <div className="mt-4 flex flex-wrap gap-2">
        {sessions.hasNextPage && (
          <Button busy={sessions.isFetchingNextPage} onClick={() => void sessions.fetchNextPage()}>
            {t('ui.more')}
          </Button>
        )}
        {items && items.length > 1 && (
          <Button busy={others.isPending} onClick={() => others.mutate()}>{t('account.sessions_end')}</Button>
        )}
      </div>
    </Panel>
  );
}

function SessionRow({ session }: { session: Session }) {
  const { t, ago } = useLanguage();
  const queries = useQueryClient();
  const name = useName(session);
  const end = useMutation({
    mutationFn: () => value(api.DELETE('/api/sessions/{id}', { params: { path: { id: session.id } } })),
    onSuccess: () => {
      void queries.invalidateQueries(KEY);
      toast(t('account.session_ended', { name }));
    },
  });
  const Icon = iconOf(session);
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-2 py-3">
      <span className="grid size-9 shrink-0 place-items-center rounded-lg bg-raised text-muted"><Icon size={17} aria-hidden /></span>
      <div className="min-w-0 flex-1 basis-40">
        <p className="flex flex-wrap items-center gap-2 font-medium">
          <span data-raw={programOf(session) ? '' : undefined} className="min-w-0 break-words">{name}</span>
          {session.current && <Badge tone="success">{t('account.session_here')}</Badge>}
        </p>
        <p className="text-sm text-muted">
          {t('account.session_used', { when: ago(session.last_used_at ?? session.created_at) })}
          {session.address && (
            <>
              {' · '}
              <span data-raw>{session.address}</span>
            </>
          )}
        </p>
        <Problem error={end.error} />
      </div>
      {!session.current && (
        <Button size="small" busy={end.isPending} aria-label={t('account.session_end_name', { name })} onClick={() => end.mutate()}>
          {t('account.session_end')}
        </Button>
      )}
    </li>
  );
}

function useName(session: Session): string {
  const { t } = useLanguage();
  if (session.method === 'first') return t('account.session_first');
  const device = deviceOf(session.user_agent);
  if (typeof device !== 'string') return t('account.session_device', { browser: device.browser, system: device.system });
  return programOf(session) || t('account.session_unknown');
}

/** The name that a program gave itself; nothing for a browser. */
function programOf({ method, user_agent: agent }: Session): string {
  const device = deviceOf(agent);
  return method !== 'first' && typeof device === 'string' ? device : '';
}

function iconOf({ method, user_agent: agent }: Session) {
  if (method === 'first') return MailOpen;
  if (/iPhone|iPad|Android/.test(agent)) return Smartphone;
  return typeof deviceOf(agent) === 'string' ? Terminal : Laptop;
}
