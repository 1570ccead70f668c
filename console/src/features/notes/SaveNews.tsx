import { Check, CloudOff, LoaderCircle, PenLine, TriangleAlert } from 'lucide-react';
import { useLanguage } from '@/app/language';
import type { Snapshot } from './keeper';

const LOOK = {
  saved: [Check, 'text-muted'],
  editing: [PenLine, 'text-muted'],
  saving: [LoaderCircle, 'text-muted'],
  untitled: [TriangleAlert, 'text-warning'],
  waiting: [CloudOff, 'text-warning'],
  conflict: [TriangleAlert, 'text-warning'],
  refused: [TriangleAlert, 'text-danger'],
} as const;

/** What is saved, in words, at all times. */
export function SaveNews({ snapshot: { state, note } }: { snapshot: Snapshot }) {
  const { t, ago } = useLanguage();
  const [Icon, tone] = LOOK[state];
  return (
    <p role="status" data-testid="save-state" data-state={state} className={`flex min-w-0 items-center gap-1.5 ps-1 text-sm ${tone}`}>
      <Icon size={14} aria-hidden className={state === 'saving' ? 'shrink-0 animate-spin' : 'shrink-0'} />
      <span className="truncate">{state === 'saved' ? t('notes.state_saved', { when: ago(note.updated_at) }) : t(`notes.state_${state}`)}</span>
    </p>
  );
}
