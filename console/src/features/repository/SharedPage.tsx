/** What others let this person into, wherever it lies. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { HeartHandshake } from 'lucide-react';
import { useRef } from 'react';
import { sharedQuery } from '@/api/repository';
import { useLanguage } from '@/app/language';
import { Page } from '@/app/Page';
import { Card, SkeletonRows } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { Problem } from '@/ui/Problem';
import { useRowKeys } from '@/ui/rows';
import { FileTable } from './FileTable';

export default function SharedPage() {
  const { t } = useLanguage();
  const list = useRef<HTMLDivElement>(null);
  useRowKeys(list);
  const shared = useInfiniteQuery(sharedQuery);
  const files = shared.data?.pages.flatMap((page) => page.items);
  return (
    <Page title={t('files.shared_title')} description={t('files.shared_lead')}>
      <Card className="overflow-hidden">
        {shared.isPending && <SkeletonRows label={t('app.loading')} />}
        {shared.error && <div className="p-4"><Problem error={shared.error} action={<Button size="small" onClick={() => void shared.refetch()}>{t('ui.retry')}</Button>} /></div>}
        {files?.length === 0 && <Empty icon={HeartHandshake} title={t('files.shared_none')} body={t('files.shared_none_body')} />}
        {files && files.length > 0 && <div ref={list}><FileTable files={files} whole /></div>}
        {shared.hasNextPage && <div className="p-3"><Button className="w-full" busy={shared.isFetchingNextPage} onClick={() => void shared.fetchNextPage()}>{t('ui.more')}</Button></div>}
      </Card>
    </Page>
  );
}
