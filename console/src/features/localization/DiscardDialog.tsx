/** Removing a language's drafts by a machine. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { languageName, useLanguage } from '@/i18n/language';
import { Confirm } from '@/ui/Confirm';
import { toast } from '@/ui/toast';
import { discardDrafts, type LocaleCoverage } from './queries';

export default function DiscardDialog({ coverage: { locale, machine }, onClose }: { coverage: LocaleCoverage; onClose: () => void }) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const discard = useMutation({
    mutationFn: () => discardDrafts(locale),
    onSuccess: ({ discarded }) => {
      void queries.invalidateQueries({ queryKey: ['localization'] });
      toast(t('localization.discarded', { n: discarded }));
      onClose();
    },
  });
  return (
    <Confirm
      title={t('localization.discard_title', { language: languageName(locale) })}
      body={t('localization.discard_body', { n: machine })}
      action={t('localization.discard_do')}
      busy={discard.isPending}
      error={discard.error}
      onConfirm={() => discard.mutate()}
      onClose={onClose}
    />
  );
}
