/** The words a team wants translated its own way, per language. */
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { BookA, Pencil, Plus, Search, Trash2 } from 'lucide-react';
import { useDeferredValue, useState, type ReactNode } from 'react';
import { api, value } from '@/api/client';
import { Page } from '@/app/Page';
import { useMay, useReadOnly } from '@/app/session';
import { useLanguage } from '@/i18n/language';
import { Badge, Raw } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { Confirm } from '@/ui/Confirm';
import { Empty } from '@/ui/Empty';
import { TextField } from '@/ui/Field';
import { ListPage } from '@/ui/ListPage';
import { IconButton } from '@/ui/Overlay';
import { Row, Table, type Column } from '@/ui/Table';
import { toast } from '@/ui/toast';
import { languageName } from './languages';
import { LanguageSelect } from './LanguageSelect';
import { glossaryQuery, type Term } from './queries';
import { TermForm } from './TermForm';

export default function GlossaryPage() {
  const { t } = useLanguage();
  const may = useMay();
  const readOnly = useReadOnly();
  const changes = may('settings:manage') && !readOnly;
  const [target, setTarget] = useState('');
  const [typed, setTyped] = useState('');
  const q = useDeferredValue(typed.trim());
  const [changing, setChanging] = useState<Term | 'new' | null>(null);
  const [removing, setRemoving] = useState<Term | null>(null);
  const terms = useInfiniteQuery(glossaryQuery(target, q));
  const items = terms.data?.pages.flatMap((page) => page.items);
  const add = changes && (
    <Button kind="primary" onClick={() => setChanging('new')}>
      <Plus size={16} aria-hidden />
      {t('glossary.add')}
    </Button>
  );
  return (
    <Page title={t('nav.glossary')} description={t('glossary.lead')} actions={add}>
      <ListPage
        query={terms}
        rows={4}
        head={<Filters target={target} typed={typed} onTarget={setTarget} onTyped={setTyped} />}
        empty={items?.length === 0 && <None filtered={Boolean(q || target)} action={add} />}
      >
        {items && items.length > 0 && <Terms terms={items} changes={changes} onChange={setChanging} onRemove={setRemoving} />}
      </ListPage>
      {changing && (
        <TermForm term={changing === 'new' ? null : changing} target={target} onClose={() => setChanging(null)} />
      )}
      {removing && <Remove term={removing} onClose={() => setRemoving(null)} />}
    </Page>
  );
}

interface FilterProps {
  target: string;
  typed: string;
  onTarget: (tag: string) => void;
  onTyped: (text: string) => void;
}

function Filters({ target, typed, onTarget, onTyped }: FilterProps) {
  const { t } = useLanguage();
  return (
    <div className="grid gap-4 border-b border-line p-4 sm:grid-cols-2">
      <TextField label={t('glossary.search')} type="search" value={typed} onChange={(event) => onTyped(event.target.value)} />
      <LanguageSelect label={t('translate.to')} value={target} none={t('glossary.every_language')} onChange={onTarget} />
    </div>
  );
}

function None({ filtered, action }: { filtered: boolean; action: ReactNode }) {
  const { t } = useLanguage();
  if (filtered) return <Empty icon={Search} title={t('glossary.no_match_title')} body={t('glossary.no_match_body')} />;
  return <Empty icon={BookA} title={t('glossary.none_title')} body={t('glossary.none_body')} action={action} />;
}

interface TermsProps {
  terms: Term[];
  changes: boolean;
  onChange: (term: Term) => void;
  onRemove: (term: Term) => void;
}

function Terms({ terms, changes, onChange, onRemove }: TermsProps) {
  const { t } = useLanguage();
  const columns: Column[] = [
    { label: t('glossary.term') },
    { label: t('glossary.translation') },
    { label: t('translate.to'), className: 'max-sm:hidden' },
    { label: t('ui.more_actions'), silent: true },
  ];
  return (
    <Table columns={columns}>
      {terms.map((term) => (
        <Row key={term.id}>
          <td className="max-w-0 px-4 py-2.5 sm:w-2/5">
            <Raw className="block truncate font-medium">{term.term}</Raw>
            {term.note && <Raw className="block truncate text-sm text-muted">{term.note}</Raw>}
            <Raw className="block text-sm text-muted sm:hidden">{languageName(term.target)}</Raw>
          </td>
          <td className="max-w-0 px-4 py-2.5 sm:w-2/5">
            {term.translation === null ? (
              <Badge>{t('glossary.kept')}</Badge>
            ) : (
              <span data-raw lang={term.target} className="block truncate">{term.translation}</span>
            )}
            {term.case_sensitive && <span className="block text-sm text-muted">{t('glossary.case_counts')}</span>}
          </td>
          <td className="px-4 py-2.5 text-sm whitespace-nowrap text-muted max-sm:hidden"><Raw>{languageName(term.target)}</Raw></td>
          <td className="pe-2">
            {changes && (
              <div className="flex">
                <IconButton label={t('glossary.change_name', { term: term.term })} onClick={() => onChange(term)}>
                  <Pencil size={15} aria-hidden />
                </IconButton>
                <IconButton label={t('glossary.remove_name', { term: term.term })} onClick={() => onRemove(term)}>
                  <Trash2 size={15} aria-hidden />
                </IconButton>
              </div>
            )}
          </td>
        </Row>
      ))}
    </Table>
  );
}

function Remove({ term, onClose }: { term: Term; onClose: () => void }) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => value(api.POST('/api/glossary', { body: { target: term.target, term: term.term, remove: true } })),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['glossary'] });
      toast(t('glossary.removed', { term: term.term }));
      onClose();
    },
  });
  return (
    <Confirm
      title={t('glossary.remove_title', { term: term.term })}
      body={t('glossary.remove_body')}
      action={t('glossary.remove')}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    />
  );
}
