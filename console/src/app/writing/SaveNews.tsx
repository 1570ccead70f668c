import { Check, CloudOff, LoaderCircle, PenLine, TriangleAlert } from 'lucide-react';
import { useLanguage } from '@/i18n/language';
import type { Snapshot, Written } from './autosave';

const LOOK = {
  saved: [Check, 'text-muted'],
  editing: [PenLine, 'text-muted'],
  saving: [LoaderCircle, 'text-muted'],
  untitled: [TriangleAlert, 'text-warning'],
  waiting: [CloudOff, 'text-warning'],
  conflict: [TriangleAlert, 'text-warning'],
  refused: [TriangleAlert, 'text-danger'],
} as const;

interface Props {
  snapshot: Pick<Snapshot<Written>, 'state' | 'kept'>;
  /** Who saved it last, where that was somebody else. */
  by?: string | undefined;
}

/** What is saved, in words, at all times. */
export function SaveNews({ snapshot: { state, kept }, by }: Props) {
  const { t, ago } = useLanguage();
  const [Icon, tone] = LOOK[state];
  const when = ago(kept.updated_at);
  const saved = by ? t('writing.saved_by', { by, when }) : t('writing.state_saved', { when });
  return (
    <p role="status" data-testid="save-state" data-state={state} className={`flex min-w-0 items-center gap-1.5 ps-1 text-sm ${tone}`}>
      <Icon size={14} aria-hidden className={state === 'saving' ? 'shrink-0 animate-spin' : 'shrink-0'} />
      <span className="truncate">
        {state === 'saved' ? saved : t(`writing.state_${state}`)}
      </span>
    </p>
  );
}
