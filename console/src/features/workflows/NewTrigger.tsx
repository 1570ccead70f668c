import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useLanguage } from '@/i18n/language';
import { Page } from '@/app/Page';
import { toast } from '@/ui/toast';
import { createTrigger } from './server';
import { EMPTY, nameOf } from './trigger-words';
import { TriggerForm } from './TriggerForm';

/** A new trigger; `?workflow=` says of what. */
export default function NewTrigger() {
  const { t } = useLanguage();
  const { workflow } = useSearch({ strict: false }) as { workflow?: string };
  const navigate = useNavigate();
  const queries = useQueryClient();
  const create = useMutation({
    mutationFn: createTrigger,
    onSuccess: async (made) => {
      toast(t('triggers.created', { name: nameOf(made) }));
      await queries.invalidateQueries({ queryKey: ['triggers'] });
      await navigate({ to: '/triggers/$id', params: { id: made.id } });
    },
  });
  return (
    <Page title={t('nav.new_trigger')} description={t('triggers.new_lead')}>
      <TriggerForm
        id={null}
        first={{ ...EMPTY, workflow_slug: workflow ?? '' }}
        action={t('triggers.create')}
        busy={create.isPending}
        error={create.error}
        onSubmit={create.mutate}
        onClose={() => void navigate({ to: '/triggers' })}
      />
    </Page>
  );
}
