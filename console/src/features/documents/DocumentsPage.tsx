/** Texts the team keeps, each with every version it had. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { FileText, Lock, Plus, Share2, Users } from 'lucide-react';
import { useRef } from 'react';
import { membersQuery } from '@/api/queries';
import { useLanguage } from '@/i18n/language';
import { Page } from '@/app/Page';
import { useIdentity, useMay, useReadOnly } from '@/app/session';
import { useShortcuts } from '@/app/shortcuts';
import { buttonClass } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { ListPage } from '@/ui/ListPage';
import { useRowKeys } from '@/ui/rows';
import { documentsQuery, type DocumentCard } from './server';

const MARKS = { private: Lock, shared: Share2, team: Users } as const;

export default function DocumentsPage() {
  const { t } = useLanguage();
  const may = useMay();
  const readOnly = useReadOnly();
  const navigate = useNavigate();
  const list = useRef<HTMLUListElement>(null);
  useRowKeys(list);
  const writes = may('files:write') && !readOnly;
  useShortcuts(writes ? [{ keys: 'n', label: 'nav.new_document', run: () => void navigate({ to: '/documents/new' }) }] : []);
  const documents = useInfiniteQuery(documentsQuery);
  const items = documents.data?.pages.flatMap((page) => page.items);
  const create = writes && (
    <Link to="/documents/new" className={buttonClass('primary')}>
      <Plus size={16} aria-hidden />
      {t('nav.new_document')}
    </Link>
  );
  return (
    <Page title={t('nav.documents')} description={t('documents.lead')} actions={create}>
      <ListPage
        query={documents}
        empty={
          items?.length === 0 && <Empty icon={FileText} title={t('documents.none_title')} body={t('documents.none_body')} action={create} />
        }
      >
        <ul ref={list}>{items?.map((document) => <Row key={document.id} document={document} />)}</ul>
      </ListPage>
    </Page>
  );
}

function Row({ document }: { document: DocumentCard }) {
  const { t, ago } = useLanguage();
  const { user } = useIdentity();
  const members = useQuery(membersQuery);
  const owner = document.owner_id === user.id ? null : members.data?.find((member) => member.id === document.owner_id)?.display_name;
  const Mark = MARKS[document.visibility];
  return (
    <li className="border-b border-line last:border-0">
      <Link
        data-row
        to="/documents/$id"
        params={{ id: document.id }}
        className="flex items-center gap-3 px-4 py-3 -outline-offset-2 hover:bg-raised"
      >
        <FileText size={18} aria-hidden className="shrink-0 text-muted" />
        <span className="min-w-0 flex-1">
          <span data-raw className="block truncate font-medium">{document.title}</span>
          <span className="flex gap-1.5 text-sm text-muted">
            <span>{t('documents.version', { n: document.version })}</span>
            {owner && <span data-raw className="truncate">· {owner}</span>}
          </span>
        </span>
        <Mark size={14} role="img" aria-label={t(`files.${document.visibility}`)} className="shrink-0 text-muted" />
        <span className="shrink-0 text-sm text-muted max-sm:hidden">{ago(document.updated_at)}</span>
      </Link>
    </li>
  );
}
