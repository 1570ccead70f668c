/** What others let this person into, wherever it lies. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { HeartHandshake } from 'lucide-react';
import { sharedQuery } from '@/api/repository';
import { useLanguage } from '@/i18n/language';
import { Page } from '@/app/Page';
import { Empty } from '@/ui/Empty';
import { ListPage } from '@/ui/ListPage';
import { FileTable } from './FileTable';

export default function SharedPage() {
  const { t } = useLanguage();
  const shared = useInfiniteQuery(sharedQuery);
  const files = shared.data?.pages.flatMap((page) => page.items);
  return (
    <Page title={t('nav.shared')} description={t('files.shared_lead')}>
      <ListPage
        query={shared}
        empty={files?.length === 0 && <Empty icon={HeartHandshake} title={t('files.shared_none')} body={t('files.shared_none_body')} />}
      >
        {files && files.length > 0 && <FileTable files={files} whole />}
      </ListPage>
    </Page>
  );
}
