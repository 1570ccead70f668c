/** Translating: the messages of a language, one of them open with its source beside its text. */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { SearchX } from 'lucide-react';
import { Page } from '@/app/Page';
import { useLanguage } from '@/i18n/language';
import { Card, SkeletonRows } from '@/ui/bits';
import { Empty } from '@/ui/Empty';
import { Problem } from '@/ui/Problem';
import { useAddress, type Address, type Change } from './address';
import { Editor } from './Editor';
import { Filters } from './Filters';
import { MessageList } from './MessageList';
import { coverageQuery, messageQuery, messagesQuery, type Message, type Wanted } from './queries';
import { rememberLocale, usualLocale } from './usual';
import { Unsent } from './Unsent';
import { Views } from './Views';

export default function DeskPage() {
  const { t } = useLanguage();
  const [address, change] = useAddress('desk');
  const coverage = useQuery(coverageQuery);
  const locale = address.locale ?? usualLocale(coverage.data ?? []);
  if (address.locale) rememberLocale(address.locale);
  return (
    <Page title={t('localization.view_desk')} description={t('localization.desk_lead')}>
      <Views here="desk" locale={locale} />
      <Unsent />
      {coverage.error && <Problem error={coverage.error} onRetry={() => void coverage.refetch()} />}
      {locale && <Desk key={locale} address={{ ...address, locale }} change={change} />}
    </Page>
  );
}

interface Props {
  address: Address & { locale: string };
  change: (change: Change, options?: { push?: boolean }) => void;
}

function Desk({ address: { locale, status, ns, q, key }, change }: Props) {
  const { t } = useLanguage();
  const wanted: Wanted = { locale, ...(status && { status }), ...(ns && { ns }), ...(q && { q }) };
  const list = useInfiniteQuery({ ...messagesQuery(wanted), placeholderData: keepPreviousData });
  const items = list.data?.pages.flatMap((page) => page.items) ?? [];
  const listed = key === undefined ? items[0] : items.find((one) => one.key === key);
  const elsewhere = key !== undefined && listed === undefined && !list.isPending;
  const alone = useQuery({ ...messageQuery(locale, key ?? ''), enabled: elsewhere });
  const open = listed ?? alone.data ?? undefined;
  const go = (one: Message) => change({ key: one.key }, { push: true });
  return (
    <>
      <Filters wanted={wanted} change={(next) => change({ ...next, key: undefined })} />
      {list.error && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && <Card><SkeletonRows label={t('app.loading')} /></Card>}
      {list.data && items.length === 0 && !open && (
        <Card><Empty icon={SearchX} title={t('localization.no_match_title')} body={t('localization.no_match_body')} /></Card>
      )}
      {(items.length > 0 || open) && (
        <div className="grid items-start gap-4 lg:grid-cols-[19rem_minmax(0,1fr)]">
          <MessageList items={items} open={open} query={list} wanted={wanted} />
          {open && <Editor key={open.id} message={open} near={items} onOpen={go} />}
        </div>
      )}
    </>
  );
}
