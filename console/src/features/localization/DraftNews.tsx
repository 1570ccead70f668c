/** Drafts while they are made: how many jobs are left, and a way to stop them. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { LoaderCircle } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { useLanguage } from '@/i18n/language';
import { Card } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { Problem } from '@/ui/Problem';
import { cancelJobs, coverageQuery, draftJobsQuery } from './queries';

export function DraftNews() {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const jobs = useQuery(draftJobsQuery);
  const left = jobs.data?.length ?? 0;
  const most = useRef(0);
  const before = useRef(0);
  most.current = left === 0 ? 0 : Math.max(most.current, left);
  useEffect(() => {
    // Every job that ended has changed the numbers below.
    if (left < before.current) void queries.invalidateQueries({ queryKey: coverageQuery.queryKey });
    before.current = left;
  }, [left, queries]);
  const cancel = useMutation({
    mutationFn: () => cancelJobs((jobs.data ?? []).map(({ id }) => id)),
    onSettled: () => void queries.invalidateQueries({ queryKey: ['localization'] }),
  });
  if (left === 0) return <Problem error={cancel.error} />;
  const waits = jobs.data!.every((job) => job.waiting_reason === 'no_worker');
  return (
    <Card className="mb-5 flex flex-wrap items-center gap-3 px-4 py-2.5">
      <LoaderCircle size={17} aria-hidden className="animate-spin text-info" />
      <p role="status" data-testid="drafting" className="min-w-0 flex-1 basis-48 tnum">
        {t(waits ? 'localization.job_waits' : 'localization.drafting', { n: left })}
      </p>
      <progress aria-label={t('localization.drafting_progress')} max={most.current} value={most.current - left} className="h-2 w-32" />
      <Button size="small" busy={cancel.isPending} onClick={() => cancel.mutate()}>{t('ui.cancel')}</Button>
    </Card>
  );
}
