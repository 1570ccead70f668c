/** Which executor answers for the team when a model is asked. */
import { useQuery } from '@tanstack/react-query';
import { Page } from '@/app/Page';
import { useIdentity } from '@/app/session';
import { useLanguage } from '@/i18n/language';
import { Card, SkeletonRows } from '@/ui/bits';
import { Problem } from '@/ui/Problem';
import { executorsQuery, serves } from './queries';
import { Roles } from './Roles';

export default function ModelsPage() {
  const { t } = useLanguage();
  const { org } = useIdentity();
  const executors = useQuery(executorsQuery);
  return (
    <Page title={t('nav.models')} description={t('executors.roles_lead')} width="narrow">
      {executors.isPending && <Card><SkeletonRows rows={1} label={t('app.loading')} /></Card>}
      <Problem error={executors.error} onRetry={() => void executors.refetch()} />
      {executors.data && <Roles executors={executors.data.filter((executor) => serves(executor, org.id))} />}
    </Page>
  );
}
