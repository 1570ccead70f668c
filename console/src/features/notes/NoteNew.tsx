import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { api, value } from '@/api/client';
import { useLanguage } from '@/i18n/language';
import { Problem } from '@/ui/Problem';
import { noteKey } from './server';

/** Makes a private note and opens it with its title selected: one key to create, the next one writes. */
export default function NoteNew() {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const create = useMutation({
    mutationFn: () => value(api.POST('/api/notes', { body: { title: t('notes.untitled'), body: '', visibility: 'private' } })),
    onSuccess: (note) => {
      queries.setQueryData(noteKey(note.id), note);
      void queries.invalidateQueries({ queryKey: ['notes'] });
      void navigate({ to: '/notes/$id', params: { id: note.id }, search: { fresh: true }, replace: true });
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
      <h1 className="sr-only">{t('nav.new_note')}</h1>
      <Problem error={create.error} onRetry={() => create.mutate()} />
    </div>
  );
}
