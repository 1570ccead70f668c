/** Reviewing: one text after the other, its difference to what is live, approved or sent back. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { CheckCheck } from 'lucide-react';
import { useState } from 'react';
import { Page } from '@/app/Page';
import { useShortcuts } from '@/app/shortcuts';
import { useLanguage } from '@/i18n/language';
import { Card, SkeletonRows } from '@/ui/bits';
import { Empty } from '@/ui/Empty';
import { Problem } from '@/ui/Problem';
import { useAddress } from './address';
import { LocaleSelect } from './Filters';
import { coverageQuery, messagesQuery, type LocaleCoverage, type Message, type Shown } from './queries';
import { ReviewCard } from './ReviewCard';
import { rememberLocale, usualLocale } from './usual';
import { Views } from './Views';

/** What a reviewer can decide on. */
const QUEUES = ['pending', 'machine', 'stale'] as const satisfies Shown[];
type Queue = (typeof QUEUES)[number];

export default function ReviewPage() {
  const { t } = useLanguage();
  const [address, change] = useAddress('review');
  const coverage = useQuery(coverageQuery);
  const locale = address.locale ?? usualLocale(coverage.data ?? []);
  if (address.locale) rememberLocale(address.locale);
  const queue = QUEUES.find((one) => one === address.status) ?? 'pending';
  return (
    <Page title={t('localization.view_review')} description={t('localization.review_lead')}>
      <Views here="review" locale={locale} />
      {coverage.error && <Problem error={coverage.error} onRetry={() => void coverage.refetch()} />}
      <div className="mb-4 grid grid-cols-2 gap-2 sm:flex">
        <LocaleSelect value={locale} onChange={(next) => change({ locale: next })} />
        <select
          aria-label={t('localization.queue')}
          className="field pe-8 sm:w-56"
          value={queue}
          onChange={(event) => change({ status: event.target.value as Queue })}
        >
          {QUEUES.map((one) => (
            <option key={one} value={one}>{t(`localization.queue_${one}`, { n: countOf(coverage.data, locale, one) })}</option>
          ))}
        </select>
      </div>
      {locale && <Waiting key={`${locale} ${queue}`} locale={locale} queue={queue} />}
    </Page>
  );
}

const countOf = (all: LocaleCoverage[] | undefined, locale: string, queue: Queue): number =>
  all?.find((one) => one.locale === locale)?.[queue] ?? 0;

const isOpen = (message: Message, queue: Queue): boolean => (queue === 'pending' ? message.pending !== null : message.status === queue);

function Waiting({ locale, queue }: { locale: string; queue: Queue }) {
  const { t } = useLanguage();
  const list = useInfiniteQuery(messagesQuery({ locale, status: queue }));
  const [at, setAt] = useState(0);
  const items = list.data?.pages.flatMap((page) => page.items) ?? [];
  const here = Math.min(at, items.length - 1);
  const step = (by: number) => {
    setAt(Math.max(0, Math.min(items.length - 1, here + by)));
    if (here + by >= items.length - 1 && list.hasNextPage) void list.fetchNextPage();
  };
  // The first that is still open after this one, else before it.
  const decided = () => {
    const order = [...items.keys()].map((one) => (here + 1 + one) % items.length);
    setAt(order.find((one) => one !== here && isOpen(items[one]!, queue)) ?? here);
  };
  useShortcuts([
    { keys: 'j', label: 'localization.next', run: () => document.getElementById('review-next')?.click() },
    { keys: 'k', label: 'localization.previous', run: () => document.getElementById('review-previous')?.click() },
  ]);
  if (list.error) return <Problem error={list.error} onRetry={() => void list.refetch()} />;
  if (list.isPending) return <Card><SkeletonRows label={t('app.loading')} /></Card>;
  const message = items[here];
  if (!message || items.every((one) => !isOpen(one, queue))) {
    return <Card><Empty icon={CheckCheck} title={t('localization.all_reviewed_title')} body={t('localization.all_reviewed_body')} /></Card>;
  }
  const left = items.filter((one) => isOpen(one, queue)).length;
  return <ReviewCard key={message.id} message={message} open={isOpen(message, queue)} left={left} onStep={step} onDecided={decided} />;
}
