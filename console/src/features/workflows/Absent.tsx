import { Link } from '@tanstack/react-router';
import { SearchX } from 'lucide-react';
import { isRefusal } from '@/api/refusal';
import { useLanguage } from '@/i18n/language';
import { Page } from '@/app/Page';
import { Card, SkeletonRows } from '@/ui/bits';
import { buttonClass } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { Problem } from '@/ui/Problem';

const WORDS = {
  workflows: ['workflows.missing_title', 'workflows.missing_body', 'nav.workflows'],
  triggers: ['triggers.missing_title', 'triggers.missing_body', 'nav.triggers'],
} as const;

interface Props {
  of: keyof typeof WORDS;
  error: Error | null;
  onRetry: () => void;
}

/** Where a workflow or a trigger should stand: it is on its way, gone, or refused. */
export function Absent({ of, error, onRetry }: Props) {
  const { t } = useLanguage();
  const [title, body, list] = WORDS[of];
  if (isRefusal(error) && error.status === 404) {
    return (
      <Page title={t(title)}>
        <Card>
          <Empty
            icon={SearchX}
            title={t(title)}
            body={t(body)}
            action={<Link to={`/${of}`} className={buttonClass()}>{t(list)}</Link>}
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
