import { Link } from '@tanstack/react-router';
import { SearchX } from 'lucide-react';
import { isRefusal } from '@/api/refusal';
import { useLanguage } from '@/i18n/language';
import { Page } from '@/app/Page';
import { Card, SkeletonRows } from '@/ui/bits';
import { buttonClass } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { Problem } from '@/ui/Problem';

/** Where a trigger should stand: it is on its way, gone, or refused. */
export function TriggerAbsent({ error, onRetry }: { error: Error | null; onRetry: () => void }) {
  const { t } = useLanguage();
  if (isRefusal(error) && error.status === 404) {
    return (
      <Page title={t('triggers.missing_title')}>
        <Card>
          <Empty
            icon={SearchX}
            title={t('triggers.missing_title')}
            body={t('triggers.missing_body')}
            action={<Link to="/triggers" className={buttonClass()}>{t('nav.triggers')}</Link>}
          />
        </Card>
      </Page>
    );
  }
  return (
    <Page title={t('app.loading')}>
      {error ? <Problem error={error} onRetry={onRetry} /> : <Card><SkeletonRows label={t('app.loading')} /></Card>}
    </Page>
  );
}
