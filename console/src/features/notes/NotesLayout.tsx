/** The list beside the note; on a small screen one of them at a time. */
import { Outlet, useParams, useRouterState } from '@tanstack/react-router';
import clsx from 'clsx';
import { NoteList } from './NoteList';

export default function NotesLayout() {
  const path = useRouterState({ select: (state) => state.location.pathname });
  const { id } = useParams({ strict: false });
  const reading = path.replace(/\/$/, '') !== '/notes';
  return (
    <div className="lg:grid lg:min-h-dvh lg:grid-cols-[21rem_minmax(0,1fr)]">
      <div className={clsx('border-line bg-surface lg:sticky lg:top-0 lg:h-dvh lg:border-e', reading && 'max-lg:hidden')}>
        <NoteList openId={id} reading={reading} />
      </div>
      <div className={clsx('min-w-0', !reading && 'max-lg:hidden')}><Outlet /></div>
    </div>
  );
}
