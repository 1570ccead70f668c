/** Adds a term or changes what it is translated to; its language and spelling are what it is found by. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, value, type Schemas } from '@/api/client';
import { useLanguage } from '@/i18n/language';
import { TextField } from '@/ui/Field';
import { FormDialog } from '@/ui/FormDialog';
import { toast } from '@/ui/toast';
import { languageName, lastTarget } from './languages';
import { LanguageSelect } from './LanguageSelect';
import type { Term } from './queries';

interface Props {
  /** The one to change; none to add one. */
  term: Term | null;
  /** The language that is being looked at. */
  target: string;
  onClose: () => void;
}

export function TermForm({ term, target, onClose }: Props) {
  const { t, locale } = useLanguage();
  const [chosen, setChosen] = useState(term?.target ?? (target || lastTarget(locale)));
  const [missing, setMissing] = useState(false);
  const put = usePut(onClose);
  const submit = (form: FormData) => {
    const words = (name: string) => String(form.get(name) ?? '').trim();
    const name = term?.term ?? words('term');
    setMissing(!name);
    if (!name) return;
    put.mutate({
      target: chosen,
      term: name,
      translation: words('translation') || null,
      note: words('note'),
      case_sensitive: form.get('case') === 'on',
    });
  };
  return (
    <FormDialog
      title={term ? t('glossary.change_title', { term: term.term }) : t('glossary.add_title')}
      description={term ? languageName(term.target) : t('glossary.add_lead')}
      action={term ? t('ui.save') : t('glossary.add')}
      busy={put.isPending}
      error={put.error}
      onClose={onClose}
      onSubmit={submit}
    >
      {!term && (
        <>
          <TextField
            label={t('glossary.term')}
            name="term"
            autoFocus
            autoComplete="off"
            maxLength={200}
            problem={missing ? t('ui.needed') : undefined}
          />
          <LanguageSelect label={t('translate.to')} value={chosen} onChange={setChosen} />
        </>
      )}
      <TextField
        label={t('glossary.translation')}
        name="translation"
        lang={chosen}
        autoComplete="off"
        maxLength={200}
        defaultValue={term?.translation ?? ''}
        hint={t('glossary.translation_hint')}
      />
      <TextField
        label={t('glossary.note')}
        name="note"
        autoComplete="off"
        maxLength={500}
        optional={t('ui.optional')}
        defaultValue={term?.note ?? ''}
        hint={t('glossary.note_hint')}
      />
      <label className="flex items-center gap-2.5">
        <input type="checkbox" name="case" className="size-4 accent-(--accent)" defaultChecked={term?.case_sensitive ?? false} />
        {t('glossary.case_counts')}
      </label>
    </FormDialog>
  );
}

function usePut(onDone: () => void) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schemas['TermAsk']) => value(api.POST('/api/glossary', { body })),
    onSuccess: ({ term }) => {
      void queries.invalidateQueries({ queryKey: ['glossary'] });
      toast(t('glossary.saved', { term }));
      onDone();
    },
  });
}
