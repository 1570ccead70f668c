import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { api, value } from '@/api/client';
import { useLanguage } from '@/i18n/language';
import { Problem } from '@/ui/Problem';
import { documentQuery, tellOthers } from './server';

/** Makes a private document and opens it with its title selected. */
export default function DocumentNew() {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const create = useMutation({
    mutationFn: () => value(api.POST('/api/documents', { body: { title: t('documents.untitled'), visibility: 'private' } })),
    onSuccess: (document) => {
      queries.setQueryData(documentQuery(document.id).queryKey, document);
      tellOthers(queries, document.id);
      void navigate({ to: '/documents/$id', params: { id: document.id }, search: { fresh: true } as never, replace: true });
    },
  });
  const asked = useRef(false);
  const { mutate } = create;
  useEffect(() => {
    if (asked.current) return;
    asked.current = true;
    mutate();
  }, [mutate]);
  return (
    <div className="p-6 lg:p-8">
      <h1 className="sr-only">{t('nav.new_document')}</h1>
      <Problem error={create.error} onRetry={() => create.mutate()} />
    </div>
  );
}
