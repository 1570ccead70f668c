import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, value } from '@/api/client';
import { useLanguage } from '@/i18n/language';
import { useIdentity, useMay, useReadOnly } from '@/app/session';
import { Confirm } from '@/ui/Confirm';
import { toast } from '@/ui/toast';
import { hasEnded, type JobSummary } from './queries';

/** Whether this person may end a job that has not ended by itself. */
export function useMayCancel(): (job: JobSummary) => boolean {
  const { user } = useIdentity();
  const may = useMay();
  const readOnly = useReadOnly();
  return (job) => !readOnly && !hasEnded(job) && !job.cancel_requested && (job.user_id === user.id || may('settings:manage'));
}

export function Cancel({ job, onClose }: { job: JobSummary; onClose: () => void }) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => value(api.POST('/api/jobs/{id}/cancel', { params: { path: { id: job.id } } })),
    onSuccess: (now) => {
      toast(t(now.state === 'cancelled' ? 'jobs.cancelled' : 'jobs.cancel_asked'));
      onClose();
    },
    onSettled: () => void queries.invalidateQueries({ queryKey: ['jobs'] }),
  });
  return (
    <Confirm
      title={t('jobs.cancel_title')}
      body={t(job.state === 'running' ? 'jobs.cancel_running' : 'jobs.cancel_queued')}
      action={t('jobs.cancel')}
      busy={cancel.isPending}
      error={cancel.error}
      onConfirm={() => cancel.mutate()}
      onClose={onClose}
    />
  );
}
