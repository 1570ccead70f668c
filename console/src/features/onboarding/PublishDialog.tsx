/** What would change for visitors, before it does. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { LineTable } from '@/app/versions/Comparison';
import { linesBetween } from '@/app/versions/lines';
import { useLanguage } from '@/i18n/language';
import { SkeletonRows } from '@/ui/bits';
import { FormDialog } from '@/ui/FormDialog';
import { toast } from '@/ui/toast';
import { linesOf } from './editing';
import { publish, readVersion, type Kept } from './queries';

export function PublishDialog({ kept, onClose }: { kept: Kept; onClose: () => void }) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const shown = kept.published?.version;
  const before = useQuery({
    queryKey: ['onboarding', 'version', shown ?? 0],
    queryFn: async () => (shown === undefined ? [] : linesOf((await readVersion(shown)).experience)),
    staleTime: Infinity,
  });
  const send = useMutation({
    mutationFn: publish,
    onSuccess: ({ version }) => {
      toast(t('onboarding.published', { n: version }));
      void queries.invalidateQueries({ queryKey: ['onboarding', 'experience'] });
      onClose();
    },
  });
  const changes = before.data && linesBetween(before.data.join('\n'), linesOf(kept.experience).join('\n'));
  return (
    <FormDialog
      title={t('onboarding.publish_title')}
      description={t(shown === undefined ? 'onboarding.publish_first' : 'onboarding.publish_lead')}
      action={t('onboarding.publish')}
      busy={send.isPending}
      disabled={!before.data}
      error={send.error ?? before.error}
      onClose={onClose}
      onSubmit={() => send.mutate()}
    >
      {before.isPending && <SkeletonRows rows={3} label={t('app.loading')} />}
      {changes && <LineTable label={t('onboarding.publish_title')} lines={changes} />}
    </FormDialog>
  );
}
