import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ScrollText } from 'lucide-react';
import { useRef } from 'react';
import { api, value, type Schemas } from '@/api/client';
import { membersQuery, PAGE, type Member } from '@/api/queries';
import { useLanguage, type Formatter } from '@/i18n/language';
import { Page } from '@/app/Page';
import { useIdentity, useMay } from '@/app/session';
import { Avatar, Badge, Card, Code, SkeletonRows } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { Problem } from '@/ui/Problem';
import { useRowKeys } from '@/ui/rows';
import { addressOf } from './address';

type Event = Schemas['AuditEvent'];

export default function AuditPage() {
  const { t } = useLanguage();
  const members = useQuery(membersQuery);
  return (
    <Trail
      name="team"
      title={t('nav.audit')}
      lead={t('audit.lead')}
      people={members.data ?? []}
      read={(query) => value(api.GET('/api/audit', { params: { query } }))}
    />
  );
}

interface TrailProps {
  name: 'team' | 'company';
  title: string;
  lead: string;
  people: Member[];
  read: (query: { limit: number; cursor?: string }) => Promise<Schemas['Page_AuditEvent_']>;
}

export function Trail({ name, title, lead, people, read }: TrailProps) {
  const { t, date } = useLanguage();
  const list = useRef<HTMLDivElement>(null);
  useRowKeys(list);
  const events = useInfiniteQuery({
    queryKey: ['audit', name],
    queryFn: ({ pageParam }) => read({ limit: PAGE, ...(pageParam ? { cursor: pageParam } : {}) }),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
  const days = Map.groupBy(events.data?.pages.flatMap((page) => page.items) ?? [], (event) => date(event.at));
  return (
    <Page title={title} description={lead}>
      {events.isPending && <Card><SkeletonRows rows={8} label={t('app.loading')} /></Card>}
      {events.error && <Problem error={events.error} onRetry={() => void events.refetch()} />}
      {events.data && days.size === 0 && <Card><Empty icon={ScrollText} title={t('audit.none_title')} body={t('audit.none_body')} /></Card>}
      <div ref={list} className="grid gap-6">
        {[...days].map(([day, found]) => (
          <section key={day} aria-label={day}>
            <h2 className="mb-2 text-sm font-semibold text-muted">{day}</h2>
            <Card><ol>{found.map((event) => <EventRow key={event.id} event={event} people={people} />)}</ol></Card>
          </section>
        ))}
      </div>
      {events.hasNextPage && (
        <Button className="mt-5 w-full" busy={events.isFetchingNextPage} onClick={() => void events.fetchNextPage()}>
          {t('ui.more')}
        </Button>
      )}
    </Page>
  );
}

function EventRow({ event, people }: { event: Event; people: Member[] }) {
  const language = useLanguage();
  const { t, find, clock } = language;
  const name = people.find((member) => member.id === event.actor_id)?.display_name ?? event.actor ?? t('audit.somebody');
  const facts = [...limitOf(event, language), ...factsOf(event, people), ...tokenOf(event, language)];
  const words = find(`audit.kind_${event.kind.replaceAll('.', '_')}`);
  const address = addressOf(event, useIdentity().team.id, useMay());
  return (
    <li
      data-row
      tabIndex={-1}
      className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2.5 -outline-offset-2 last:border-0"
    >
      <time dateTime={event.at} data-raw className="w-11 shrink-0 text-sm text-muted tnum">{clock(event.at)}</time>
      <Avatar name={name} size={24} />
      <p className="min-w-0 flex-1 basis-44">
        <span data-raw className="font-medium">
          {name}
        </span>{' '}
        {words ? <Words words={words} address={event.name ? null : address} /> : <Code>{event.kind}</Code>}
        {event.name && <>{' '}<Name name={event.name} address={address} /></>}
      </p>
      <div className="flex min-w-0 flex-wrap gap-1.5">
        {facts.map((fact) => (
          <Badge key={String(fact)}>
            {typeof fact === 'boolean' ? (
              t(fact ? 'audit.on' : 'audit.off')
            ) : (
              <span data-raw className="max-w-56 truncate">{fact}</span>
            )}
          </Badge>
        ))}
      </div>
    </li>
  );
}

/** The sentence, which leads to the thing where that has no name of its own. */
function Words({ words, address }: { words: string; address: string | null }) {
  if (address === null) return <span className="text-muted">{words}</span>;
  return <Link to={address} className="text-link hover:underline">{words}</Link>;
}

/** What the thing is called now. */
function Name({ name, address }: { name: string; address: string | null }) {
  if (address === null) return <span data-raw className="break-words">{name}</span>;
  return <Link data-raw to={address} className="font-medium break-words text-link hover:underline">{name}</Link>;
}

const ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;
const TOLD = ['name', 'title', 'username', 'role', 'key', 'visibility', 'user', 'principal', 'capability', 'permission', 'enabled']
  .concat('workflow', 'slug');

/** What is worth telling beside the sentence: names instead of ids, and nothing twice. */
function factsOf(event: Event, people: Member[]): (string | boolean)[] {
  const named = (id: string) => people.find((member) => member.id === id)?.display_name;
  const subject = ID.test(event.subject) ? undefined : event.subject;
  const facts = TOLD.map((name) => event.facts[name]).map((fact): unknown =>
    typeof fact === 'string' && ID.test(fact) ? named(fact) : fact,
  );
  return [...new Set<unknown>([subject, ...facts])].filter(
    (fact): fact is string | boolean => typeof fact === 'boolean' || (typeof fact === 'string' && !['', event.name].includes(fact)),
  );
}

/** The API token by which something was given. */
function tokenOf({ facts }: Event, { t }: Formatter): string[] {
  const name = facts['token_name'];
  return typeof name === 'string' ? [t('audit.by_token', { name })] : [];
}

/** What was limited and to how much; raised altogether when no number is told. */
function limitOf({ kind, facts }: Event, { find, t, number }: Formatter): string[] {
  if (kind !== 'quotas.limit_set') return [];
  const dimension = String(facts['dimension']);
  const most = typeof facts['limit'] === 'number' ? number(facts['limit']) : t('usage.no_limit');
  return [find(`usage.${dimension.replaceAll('.', '_')}`) ?? dimension, most];
}
