import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { FileQuestion } from 'lucide-react';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { isRefusal } from '@/api/refusal';
import { objectQuery } from '@/api/repository';
import { useLanguage } from '@/app/language';
import { Page } from '@/app/Page';
import { useIdentity, useReadOnly } from '@/app/session';
import { Conflict } from '@/app/writing/Conflict';
import { Keeper } from '@/app/writing/keeper';
import { Card, SkeletonRows } from '@/ui/bits';
import { Button, buttonClass } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { Problem } from '@/ui/Problem';
import { DocumentEditor } from './DocumentEditor';
import { documentQuery, serverOf, type Document } from './server';

export default function DocumentPage() {
  const { t } = useLanguage();
  const { id = '' } = useParams({ strict: false });
  const document = useQuery(documentQuery(id));
  // What this person may do with it is the file's to say.
  const file = useQuery(objectQuery(id));
  const error = document.error ?? file.error;
  if (document.data && file.data) return <KeptDocument key={id} document={document.data} permissions={file.data.permissions} />;
  if (isRefusal(error) && error.status === 404) return <Page title={t('documents.missing_title')}><Card><Empty icon={FileQuestion} title={t('documents.missing_title')} body={t('documents.missing_body')} action={<Link to="/documents" className={buttonClass()}>{t('documents.all')}</Link>} /></Card></Page>;
  return <Page title={t('app.loading')}>{error ? <Problem error={error} action={<Button size="small" onClick={() => { void document.refetch(); void file.refetch(); }}>{t('ui.retry')}</Button>} /> : <Card><SkeletonRows label={t('app.loading')} /></Card>}</Page>;
}

function KeptDocument({ document, permissions }: { document: Document; permissions: string[] }) {
  const queries = useQueryClient();
  const { user } = useIdentity();
  const readOnly = useReadOnly();
  const [keeper] = useState(() => new Keeper(document, user.id, serverOf(queries)));
  const snapshot = useSyncExternalStore(keeper.subscribe, keeper.read);
  useEffect(() => keeper.refresh(document), [keeper, document]);
  useEffect(() => {
    const save = () => void keeper.flush();
    addEventListener('pagehide', save);
    addEventListener('online', save);
    return () => {
      removeEventListener('pagehide', save);
      removeEventListener('online', save);
      keeper.stop();
    };
  }, [keeper]);
  const may = (permission: string) => !readOnly && permissions.includes(permission);
  if (snapshot.state === 'conflict' && snapshot.theirs) return <Conflict snapshot={snapshot} theirs={snapshot.theirs} onResolve={(text) => void keeper.resolve(text)} />;
  return <DocumentEditor keeper={keeper} snapshot={snapshot} reach={{ writes: may('files:write'), manages: may('files:manage'), deletes: may('files:delete') }} />;
}
