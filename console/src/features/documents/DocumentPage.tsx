import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { FileQuestion } from 'lucide-react';
import { isRefusal } from '@/api/refusal';
import { useLanguage } from '@/i18n/language';
import { Page } from '@/app/Page';
import { useUnpinGone } from '@/app/pins';
import { useAbilities } from '@/app/abilities';
import { Conflict } from '@/app/writing/Conflict';
import { useAutosave } from '@/app/writing/useAutosave';
import { Card, SkeletonRows } from '@/ui/bits';
import { buttonClass } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { Problem } from '@/ui/Problem';
import { DocumentEditor } from './DocumentEditor';
import { documentQuery, serverOf, type Document } from './server';

export default function DocumentPage() {
  const { t } = useLanguage();
  const { id = '' } = useParams({ strict: false });
  const document = useQuery(documentQuery(id));
  const error = document.error;
  const gone = isRefusal(error) && error.status === 404;
  useUnpinGone(gone);
  if (document.data) return <KeptDocument key={id} document={document.data} />;
  if (gone) {
    return (
      <Page title={t('documents.missing_title')}>
        <Card>
          <Empty
            icon={FileQuestion}
            title={t('documents.missing_title')}
            body={t('documents.missing_body')}
            action={<Link to="/documents" className={buttonClass()}>{t('documents.all')}</Link>}
          />
        </Card>
      </Page>
    );
  }
  return (
    <Page title={t('app.loading')}>
      {error ? (
        <Problem
          error={error}
          onRetry={() => void document.refetch()}
        />
      ) : (
        <Card><SkeletonRows label={t('app.loading')} /></Card>
      )}
    </Page>
  );
}

function KeptDocument({ document }: { document: Document }) {
  const queries = useQueryClient();
  const { autosave, snapshot } = useAutosave(document, serverOf(queries));
  const may = useAbilities(snapshot.kept);
  if (snapshot.state === 'conflict' && snapshot.theirs) {
    return <Conflict snapshot={snapshot} theirs={snapshot.theirs} onResolve={(text) => void autosave.resolve(text)} />;
  }
  return (
    <DocumentEditor
      autosave={autosave}
      snapshot={snapshot}
      may={may}
    />
  );
}
