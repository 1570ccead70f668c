/** Having a model draft what a language lacks: what it will cost, then the start. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { usageQuery } from '@/api/companies';
import { languageName, useLanguage } from '@/i18n/language';
import { FormDialog } from '@/ui/FormDialog';
import { Switch } from '@/ui/Switch';
import { costOf } from './cost';
import { draftJobsQuery, messagesQuery, startDrafts, type LocaleCoverage } from './queries';

const TOKENS = 'ai.tokens.total';

export default function DraftDialog({ coverage, onClose }: { coverage: LocaleCoverage; onClose: () => void }) {
  const { t, number } = useLanguage();
  const queries = useQueryClient();
  const [goOn, setGoOn] = useState(true);
  const { locale, missing } = coverage;
  const sample = useQuery({
    queryKey: ['localization', 'sample', locale, missing],
    queryFn: async () => (await queries.fetchInfiniteQuery(messagesQuery({ locale, status: 'missing' }))).pages[0]?.items ?? [],
  });
  const usage = useQuery(usageQuery);
  const left = usage.data?.flatMap((line) => (line.dimension === TOKENS && line.remaining != null ? [line.remaining] : [])) ?? [];
  const begin = useMutation({
    mutationFn: () => startDrafts(locale, goOn),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: draftJobsQuery.queryKey });
      onClose();
    },
  });
  return (
    <FormDialog
      title={t('localization.draft_title', { language: languageName(locale) })}
      description={t('localization.draft_lead')}
      action={t('localization.draft_do')}
      busy={begin.isPending}
      disabled={missing === 0}
      error={begin.error ?? sample.error}
      onClose={onClose}
      onSubmit={() => begin.mutate()}
    >
      <p data-testid="cost" className="tnum">
        {t('localization.draft_cost', { n: missing, tokens: number(costOf((sample.data ?? []).map((one) => one.source), missing)) })}{' '}
        {left.length > 0 && t('localization.draft_left', { tokens: number(Math.min(...left)) })}
      </p>
      <div className="flex items-center justify-between gap-4">
        <span>
          <span className="block font-medium">{t('localization.draft_all')}</span>
          <span className="block text-sm text-muted">{t('localization.draft_all_more')}</span>
        </span>
        <Switch label={t('localization.draft_all')} on={goOn} onChange={setGoOn} />
      </div>
    </FormDialog>
  );
}
