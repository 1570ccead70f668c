/** A first job to learn by: words are counted in the background. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent } from 'react';
import { api, value } from '@/api/client';
import { useLanguage } from '@/app/language';
import { Code } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { Field } from '@/ui/Field';
import { Dialog, DialogActions } from '@/ui/Overlay';
import { Problem } from '@/ui/Problem';

const KIND = 'x.example-tools.word-count';

export default function TryJob() {
  const { t } = useLanguage();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const close = () => void navigate({ to: '/jobs' });
  const enqueue = useMutation({
    // Every kind takes something else, which the document can only call an object.
    mutationFn: (text: string) => value(api.POST('/api/jobs', { body: { kind: KIND, input: { text } as never } })),
    onSuccess: ({ id }) => {
      void queries.invalidateQueries({ queryKey: ['jobs'] });
      void navigate({ to: '/jobs/$id', params: { id } });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    enqueue.mutate(String(new FormData(event.currentTarget).get('text')));
  };
  return (
    <Dialog open onClose={close} title={t('jobs.try')} description={t('jobs.try_lead')}>
      <form noValidate className="grid gap-4" onSubmit={submit}>
        <Field label={t('jobs.try_text')} hint={t('jobs.try_hint')}>{(wiring) => <textarea {...wiring} name="text" rows={4} autoFocus defaultValue={t('jobs.try_sample')} className="field h-auto py-2" />}</Field>
        <p className="text-sm text-muted"><Code>{KIND}</Code></p>
        <Problem error={enqueue.error} />
        <DialogActions><Button onClick={close}>{t('ui.cancel')}</Button><Button type="submit" kind="primary" busy={enqueue.isPending}>{t('jobs.queue_it')}</Button></DialogActions>
      </form>
    </Dialog>
  );
}
