/** Changes a trigger, unless another change came first. */
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useLanguage } from '@/i18n/language';
import { Page } from '@/app/Page';
import { toast } from '@/ui/toast';
import { changeTrigger, triggerQuery } from './server';
import type { Trigger, TriggerDraft } from './shapes';
import { changeOf } from './trigger-change';
import { nameOf } from './trigger-words';
import { Absent } from './Absent';
import { TriggerForm } from './TriggerForm';

export default function EditTrigger() {
  const { id = '' } = useParams({ strict: false });
  const found = useInfiniteQuery(triggerQuery(id));
  const page = found.data?.pages[0];
  if (!page) return <Absent of="triggers" error={found.error} onRetry={() => void found.refetch()} />;
  return <Editor key={id} trigger={page.value} etag={page.etag} />;
}

function Editor({ trigger, etag }: { trigger: Trigger; etag: string }) {
  const { t } = useLanguage();
  const navigate = useNavigate();
  const queries = useQueryClient();
  // What was read when the form opened: the page behind it is read again and again.
  const [read] = useState({ trigger, etag });
  const close = () => void navigate({ to: '/triggers/$id', params: { id: trigger.id } });
  const save = useMutation({
    mutationFn: (draft: TriggerDraft) => changeTrigger(trigger.id, changeOf(read.trigger, draft), read.etag),
    onSuccess: async (now) => {
      toast(t('triggers.saved', { name: nameOf(now) }));
      await queries.invalidateQueries({ queryKey: ['triggers'] });
      close();
    },
  });
  return (
    <Page title={nameOf(trigger)} raw description={t('triggers.new_lead')}>
      <TriggerForm
        id={trigger.id}
        first={read.trigger}
        action={t('ui.save')}
        busy={save.isPending}
        error={save.error}
        onSubmit={save.mutate}
        onClose={close}
      />
    </Page>
  );
}
