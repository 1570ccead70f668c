/** Two entities said to be one: find the other, see what becomes of them, and which of the two gives its type. */
import { keepPreviousData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ArrowLeftRight } from 'lucide-react';
import { useDeferredValue, useState, type ReactNode } from 'react';
import { useLanguage } from '@/i18n/language';
import { ListBody } from '@/ui/ListPage';
import { Button } from '@/ui/Button';
import { TextField } from '@/ui/Field';
import { FormDialog } from '@/ui/FormDialog';
import { toast } from '@/ui/toast';
import { useJob } from './job';
import { JobNews } from './JobNews';
import { entitiesQuery, LONGEST, merge, unmerge, whenEnded, type Entity, type EntityDetail } from './queries';
import { ICONS, TypeBadge } from './words';

const MOST = 8;
const UNDO_MILLISECONDS = 10_000;
type One = Pick<Entity, 'id' | 'type' | 'name' | 'aliases' | 'documents'>;

interface Props {
  entity: EntityDetail;
  onClose: () => void;
}

export default function MergeDialog({ entity, onClose }: Props) {
  const { t } = useLanguage();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [other, setOther] = useState<One | null>(null);
  const [swapped, setSwapped] = useState(false);
  const [kept, dropped] = swapped && other ? [other, entity] : [entity, other];
  const again = () => void queries.invalidateQueries({ queryKey: ['knowledge'] });
  const job = useJob(
    (pair: { keep: string; drop: string }) => merge(pair.keep, pair.drop),
    ({ id }) => {
      // The job's id is the merge's.
      const undo = () => void unmerge(id).then(whenEnded).finally(again);
      toast(t('knowledge.merged_now', { name: kept.name }), { undo, milliseconds: UNDO_MILLISECONDS });
      again();
      onClose();
      if (kept.id !== entity.id) void navigate({ to: '/knowledge/$id', params: { id: kept.id }, replace: true });
    },
  );
  return (
    <FormDialog
      title={t('knowledge.merge_title', { name: entity.name })}
      description={t('knowledge.merge_lead')}
      action={t('knowledge.merge_do')}
      busy={job.busy}
      disabled={!other}
      error={job.error}
      onClose={onClose}
      onSubmit={() => dropped && job.start({ keep: kept.id, drop: dropped.id })}
    >
      {other && dropped ? (
        <Preview kept={kept} dropped={dropped} onSwap={() => setSwapped(!swapped)} onOther={() => setOther(null)} />
      ) : (
        <Choice not={entity.id} onChoose={setOther} />
      )}
      <JobNews job={job.job} />
    </FormDialog>
  );
}

/** Typing narrows the list; choosing shows what would become of the two. */
function Choice({ not, onChoose }: { not: string; onChoose: (one: One) => void }) {
  const { t } = useLanguage();
  const [typed, setTyped] = useState('');
  const q = useDeferredValue(typed.trim());
  const found = useInfiniteQuery({ ...entitiesQuery(q ? { q } : {}, MOST), placeholderData: keepPreviousData });
  const items = found.data?.pages.flatMap((page) => page.items).filter(({ id }) => id !== not);
  return (
    <>
      <TextField
        label={t('knowledge.merge_with')}
        type="search"
        autoFocus
        maxLength={LONGEST}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
      />
      <div className="max-h-64 overflow-y-auto rounded-lg border border-line">
        <ListBody query={found} rows={3} empty={items?.length === 0 && <p className="p-4 text-muted">{t('knowledge.no_match_title')}</p>}>
          <ul aria-label={t('knowledge.entities')}>
            {items?.map((one) => <Option key={one.id} entity={one} onChoose={() => onChoose(one)} />)}
          </ul>
        </ListBody>
      </div>
    </>
  );
}

function Option({ entity, onChoose }: { entity: Entity; onChoose: () => void }) {
  const { t } = useLanguage();
  const Icon = ICONS[entity.type];
  return (
    <li className="border-b border-line last:border-0">
      <button
        type="button"
        onClick={onChoose}
        className="flex min-h-10 w-full items-center gap-2.5 px-3 py-1.5 text-start -outline-offset-2 hover:bg-raised"
      >
        <Icon size={16} role="img" aria-label={t(`knowledge.type_${entity.type}`)} className="shrink-0 text-muted" />
        <span data-raw className="min-w-0 flex-1 truncate font-medium">{entity.name}</span>
        <span className="shrink-0 text-sm text-muted tnum">{t('knowledge.documents', { n: entity.documents })}</span>
      </button>
    </li>
  );
}

interface PreviewProps {
  kept: One;
  dropped: One;
  onSwap: () => void;
  onOther: () => void;
}

function Preview({ kept, dropped, onSwap, onOther }: PreviewProps) {
  const { t } = useLanguage();
  const names = [...new Set([kept.name, dropped.name, ...kept.aliases, ...dropped.aliases])];
  return (
    <div data-testid="preview" className="grid gap-3 rounded-lg border border-line p-4">
      <h3 className="font-medium">{t('knowledge.preview')}</h3>
      <dl className="grid gap-2 text-sm">
        <Fact name={t('knowledge.names')}><span data-raw className="wrap-anywhere">{names.join(' · ')}</span></Fact>
        <Fact name={t('knowledge.type')}><TypeBadge type={kept.type} /></Fact>
        <Fact name={t('knowledge.where')}>{t('knowledge.at_most', { n: kept.documents + dropped.documents })}</Fact>
      </dl>
      <p className="text-sm text-muted">{t('knowledge.merge_later')}</p>
      <div className="flex flex-wrap gap-2">
        {kept.type !== dropped.type && (
          <Button size="small" onClick={onSwap}>
            <ArrowLeftRight size={14} aria-hidden />
            {t('knowledge.swap')}
          </Button>
        )}
        <Button size="small" autoFocus onClick={onOther}>{t('knowledge.choose_another')}</Button>
      </div>
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex flex-wrap gap-x-3">
      <dt className="w-24 shrink-0 text-muted">{name}</dt>
      <dd className="min-w-0 flex-1">{children}</dd>
    </div>
  );
}
