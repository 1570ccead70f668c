/** Having documents read: the button, and how its run goes. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import clsx from 'clsx';
import { ScanSearch, X } from 'lucide-react';
import { useEffect } from 'react';
import { isRefusal } from '@/api/refusal';
import { OUTCOMES, outcomeWords } from '@/app/outcome';
import { useMay, useReadOnly } from '@/app/session';
import { useLanguage } from '@/i18n/language';
import { Card } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { IconButton } from '@/ui/Overlay';
import { Problem } from '@/ui/Problem';
import { hasEnded, runQuery, startExtraction } from './queries';

const WORKFLOW = 'index-knowledge';

export function ExtractNow({ onStart }: { onStart: (run: string) => void }) {
  const { t } = useLanguage();
  const may = useMay();
  const readOnly = useReadOnly();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const start = useMutation({
    mutationFn: startExtraction,
    onSuccess: (run) => {
      queries.setQueryData(runQuery(run.id).queryKey, run);
      onStart(run.id);
    },
    onError: (error) => {
      // Somebody else published it: its start dialog says what it may do.
      if (isRefusal(error, 'workflows.review')) void navigate({ to: '/workflows/$slug/start', params: { slug: WORKFLOW } });
    },
  });
  if (readOnly || !may('workflows:run')) return null;
  return (
    <div className="grid justify-items-end gap-2 max-sm:justify-items-start">
      <Button kind="primary" busy={start.isPending} onClick={() => start.mutate()}>
        <ScanSearch size={15} aria-hidden />
        {t('knowledge.extract')}
      </Button>
      <Problem error={start.error} />
    </div>
  );
}

const TEXT = {
  info: 'text-info', success: 'text-success', warning: 'text-warning', danger: 'text-danger', neutral: 'text-muted',
} as const;

/** How a run goes; what it found is shown once it has ended. */
export function RunProgress({ id, onClose }: { id: string; onClose: () => void }) {
  const language = useLanguage();
  const { t } = language;
  const queries = useQueryClient();
  const run = useQuery(runQuery(id));
  const ended = run.data && hasEnded(run.data);
  useEffect(() => {
    if (ended) void queries.invalidateQueries({ queryKey: ['knowledge'] });
  }, [ended, queries]);
  if (run.error) return <div className="mb-4"><Problem error={run.error} /></div>;
  if (!run.data) return null;
  const { outcome } = run.data;
  const [tone, Icon] = OUTCOMES[outcome];
  const plain = outcome === 'waiting' || outcome === 'done_with_failures';
  return (
    <Card className="mb-4 flex flex-wrap items-center gap-3 py-2.5 ps-4 pe-2">
      <Icon size={17} aria-hidden className={clsx(TEXT[tone], outcome === 'running' && 'animate-spin')} />
      <p role="status" data-testid="extraction" data-state={run.data.state} className="min-w-0 flex-1 basis-48">
        {plain ? outcomeWords(language, run.data) : t(`knowledge.run_${run.data.state}`)}
      </p>
      <Link to="/runs/$id" params={{ id }} className="inline-flex h-7 items-center text-sm text-link hover:underline">
        {t('knowledge.its_run')}
      </Link>
      <IconButton label={t('ui.dismiss')} onClick={onClose}><X size={15} aria-hidden /></IconButton>
    </Card>
  );
}
