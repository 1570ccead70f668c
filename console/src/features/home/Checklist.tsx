/** Getting started: a few things worth doing, ticked by what the server says, gone when they are done. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleCheckBig, NotebookPen, ShieldCheck, Terminal, UserPlus, X, type LucideIcon } from 'lucide-react';
import { useState } from 'react';
import { membersQuery, notesQuery } from '@/api/queries';
import { useLanguage } from '@/i18n/language';
import { lazyPart } from '@/app/lazily';
import { useIdentity, useMay, useReadOnly } from '@/app/session';
import { Card } from '@/ui/bits';
import { buttonClass } from '@/ui/Button';
import { IconButton } from '@/ui/Overlay';

interface Step {
  name: 'note' | 'invite' | 'two_factor' | 'token';
  icon: LucideIcon;
  to: string;
  done: boolean;
}

const HIDDEN = 'atrium.checklist';
// Only a team without a single note is offered some.
const Samples = lazyPart(() => import('./Samples'));

function useSteps(): Step[] | null {
  const { two_factor, operator } = useIdentity();
  const may = useMay();
  const notes = useInfiniteQuery(notesQuery(''));
  const members = useQuery(membersQuery);
  if (notes.isPending || members.isPending) return null;
  const steps: (Step | false)[] = [
    may('notes:write') && { name: 'note', icon: NotebookPen, to: '/notes/new', done: (notes.data?.pages[0]?.items.length ?? 0) > 0 },
    may('members:manage') && { name: 'invite', icon: UserPlus, to: '/settings/members/new', done: (members.data?.length ?? 0) > 1 },
    { name: 'two_factor', icon: ShieldCheck, to: '/settings/security', done: two_factor },
    (may('settings:manage') || operator) && {
      name: 'token',
      icon: Terminal,
      to: '/settings/tokens/new',
      done: localStorage.getItem('atrium.token_made') === '1',
    },
  ];
  return steps.filter((step): step is Step => step !== false);
}

/** Sample notes are for admins of an empty team that may write. */
function useOffered(): boolean {
  const may = useMay();
  const readOnly = useReadOnly();
  const notes = useInfiniteQuery(notesQuery(''));
  return may('settings:manage') && !readOnly && notes.data?.pages[0]?.items.length === 0;
}

export function Checklist() {
  const { t } = useLanguage();
  const steps = useSteps();
  const offered = useOffered();
  const [hidden, setHidden] = useState(() => localStorage.getItem(HIDDEN) === 'hidden');
  if (hidden || steps?.every((step) => step.done)) return null;
  const done = steps?.filter((step) => step.done).length ?? 0;
  const hide = () => {
    localStorage.setItem(HIDDEN, 'hidden');
    setHidden(true);
  };
  return (
    <Card className="p-5">
      <div className="flex items-start justify-between gap-3">
        <div>
          <h2 className="text-lg font-semibold">{t('home.start_title')}</h2>
          <p className="mt-0.5 text-muted">{t('home.start_progress', { done, total: steps?.length ?? 4 })}</p>
        </div>
        <IconButton label={t('home.start_hide')} onClick={hide} className="-me-1 -mt-1">
          <X size={16} aria-hidden />
        </IconButton>
      </div>
      <progress
        aria-label={t('home.start_title')}
        value={done}
        max={steps?.length ?? 4}
        className="mt-3 block h-1.5 w-full appearance-none overflow-hidden rounded-full bg-raised [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-raised [&::-webkit-progress-value]:rounded-full [&::-webkit-progress-value]:bg-accent"
      />
      {offered && <Samples />}
      <ul className="mt-3 min-h-58 divide-y divide-line">{steps?.map((step) => <ChecklistRow key={step.name} step={step} />)}</ul>
    </Card>
  );
}

function ChecklistRow({ step: { name, icon: Icon, to, done } }: { step: Step }) {
  const { t } = useLanguage();
  return (
    <li className="flex items-center gap-3.5 py-3">
      {done ? (
        <span className="grid size-8 shrink-0 place-items-center rounded-full bg-success-soft text-success">
          <CircleCheckBig size={17} aria-hidden />
        </span>
      ) : (
        <span className="grid size-8 shrink-0 place-items-center rounded-full bg-raised text-muted">
          <Icon size={16} aria-hidden />
        </span>
      )}
      <div className="min-w-0 flex-1">
        <p className={done ? 'text-muted' : 'font-medium'}>
          {t(`home.step_${name}`)}
          {done && <span className="sr-only"> {t('home.step_done')}</span>}
        </p>
        {!done && <p className="text-sm text-muted">{t(`home.step_${name}_more`)}</p>}
      </div>
      {!done && <Link to={to} className={buttonClass('default', 'small')}>{t(`home.step_${name}_do`)}</Link>}
    </li>
  );
}
