import { Link } from '@tanstack/react-router';
import { SearchX } from 'lucide-react';
import { isRefusal } from '@/api/refusal';
import { useLanguage } from '@/i18n/language';
import { Page } from '@/app/Page';
import { Card, SkeletonRows } from '@/ui/bits';
import { buttonClass } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { Problem } from '@/ui/Problem';

interface Props {
  of: 'workflows' | 'triggers';
  error: Error | null;
  onRetry: () => void;
}

/** Where a workflow or a trigger should stand: it is on its way, gone, or refused. */
export function Absent({ of, error, onRetry }: Props) {
  const { t } = useLanguage();
  if (isRefusal(error) && error.status === 404) {
    return (
      <Page title={t(`${of}.missing_title`)}>
        <Card>
          <Empty
            icon={SearchX}
            title={t(`${of}.missing_title`)}
            body={t(`${of}.missing_body`)}
            action={<Link to={`/${of}`} className={buttonClass()}>{t(`nav.${of}`)}</Link>}
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
