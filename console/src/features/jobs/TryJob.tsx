/** A first job to learn by: words are counted in the background. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { api, value } from '@/api/client';
import { useLanguage } from '@/i18n/language';
import { Code } from '@/ui/bits';
import { Field } from '@/ui/Field';
import { FormDialog } from '@/ui/FormDialog';

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
  return (
    <FormDialog
      title={t('nav.try_job')}
      description={t('jobs.try_lead')}
      action={t('jobs.queue_it')}
      busy={enqueue.isPending}
      error={enqueue.error}
      onSubmit={(form) => enqueue.mutate(String(form.get('text')))}
      onClose={close}
    >
      <Field label={t('jobs.try_text')} hint={t('jobs.try_hint')}>
        {(wiring) => (
          <textarea {...wiring} name="text" rows={4} autoFocus defaultValue={t('jobs.try_sample')} className="field h-auto py-2" />
        )}
      </Field>
      <p className="text-sm text-muted"><Code>{KIND}</Code></p>
    </FormDialog>
  );
}
