/** What was merged into an entity, by whom, and taking that back. */
import { useQueryClient } from '@tanstack/react-query';
import { Split } from 'lucide-react';
import { useLanguage } from '@/i18n/language';
import { Card } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { Problem } from '@/ui/Problem';
import { toast } from '@/ui/toast';
import { useJob } from './job';
import { JobNews } from './JobNews';
import { unmerge, type EntityDetail, type Merged } from './queries';
import { TypeBadge } from './words';

export function MergedList({ entity, undoes }: { entity: EntityDetail; undoes: boolean }) {
  const { t } = useLanguage();
  return (
    <section aria-labelledby="merged" className="mt-6">
      <h2 id="merged" className="mb-3 font-semibold">{t('knowledge.merged')}</h2>
      <Card>
        <ul>{entity.merged.map((one) => <Row key={one.id} merged={one} undoes={undoes} />)}</ul>
      </Card>
    </section>
  );
}

function Row({ merged, undoes }: { merged: Merged; undoes: boolean }) {
  const { t, ago } = useLanguage();
  const queries = useQueryClient();
  const undo = useJob(unmerge, () => {
    toast(t('knowledge.undone', { name: merged.name }));
    void queries.invalidateQueries({ queryKey: ['knowledge'] });
  });
  return (
    <li data-testid="merged" className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2.5 last:border-0">
      <TypeBadge type={merged.type} />
      <span data-raw className="min-w-0 flex-1 basis-32 truncate font-medium">{merged.name}</span>
      <span className="flex flex-wrap gap-x-2 text-sm text-muted">
        {merged.by && <span data-raw>{merged.by.username}</span>}
        <time dateTime={merged.at}>{ago(merged.at)}</time>
      </span>
      {undoes && (
        <Button
          size="small"
          busy={undo.busy}
          aria-label={t('knowledge.undo_name', { name: merged.name })}
          onClick={() => undo.start(merged.id)}
        >
          <Split size={14} aria-hidden />
          {t('ui.undo')}
        </Button>
      )}
      <div className="w-full empty:hidden"><Problem error={undo.error} /><JobNews job={undo.job} /></div>
    </li>
  );
}
