/** The first screen: what to do next, and what changed. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowRight, FileText, Lock, NotebookPen, Plus, UserPlus, Users } from 'lucide-react';
import { membersQuery, notesQuery } from '@/api/queries';
import { useLanguage } from '@/i18n/language';
import { lazyPart } from '@/app/lazily';
import { Page } from '@/app/Page';
import { useIdentity, useMay } from '@/app/session';
import { useShortcuts } from '@/app/shortcuts';
import { useNavigate } from '@tanstack/react-router';
import { Avatar, Badge, Card, SkeletonRows } from '@/ui/bits';
import { buttonClass } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { Problem } from '@/ui/Problem';
import { Checklist } from './Checklist';

// Below the fold on most screens, so nobody waits for it.
const UsageCard = lazyPart(() => import('./UsageCard'));

const greetingAt = (hour: number) =>
  hour < 5 || hour >= 18 ? 'home.good_evening' : hour < 12 ? 'home.good_morning' : 'home.good_afternoon';

export default function Home() {
  const { t } = useLanguage();
  const { user, team } = useIdentity();
  const may = useMay();
  const navigate = useNavigate();
  useShortcuts(may('notes:write') ? [{ keys: 'n', label: 'nav.new_note', run: () => void navigate({ to: '/notes/new' }) }] : []);
  return (
    <Page
      title={t(greetingAt(new Date().getHours()), { name: user.display_name })}
      description={t('home.lead', { team: team.name })}
      actions={
        may('notes:write') && (
          <Link to="/notes/new" className={buttonClass('primary')}>
            <Plus size={16} aria-hidden />
            {t('nav.new_note')}
          </Link>
        )
      }
    >
      <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="grid min-w-0 gap-5">
          <Checklist />
          {may('notes:read') && <RecentNotes />}
        </div>
        <div className="grid gap-5"><Team /><UsageCard /></div>
      </div>
    </Page>
  );
}

function RecentNotes() {
  const { t, ago } = useLanguage();
  const notes = useInfiniteQuery(notesQuery(''));
  const items = notes.data?.pages[0]?.items.slice(0, 6);
  return (
    <Card>
      <div className="flex items-center justify-between gap-3 px-5 pt-4 pb-2">
        <h2 className="text-lg font-semibold">{t('home.recent')}</h2>
        <Link to="/notes" className="flex h-7 items-center gap-1 text-sm font-medium text-link hover:underline">
          {t('home.all_notes')}
          <ArrowRight size={14} aria-hidden className="rtl:rotate-180" />
        </Link>
      </div>
      {notes.isPending && <SkeletonRows rows={3} label={t('app.loading')} />}
      {notes.error && <div className="p-4"><Problem error={notes.error} onRetry={() => void notes.refetch()} /></div>}
      {items?.length === 0 && <Empty level={3} icon={NotebookPen} title={t('notes.none_title')} body={t('notes.none_body')} />}
      <ul className="pb-2">
        {items?.map((note) => (
          <li key={note.id}>
            <Link to="/notes/$id" params={{ id: note.id }} className="flex items-center gap-3 px-5 py-2.5 hover:bg-raised">
              <FileText size={16} className="shrink-0 text-muted" aria-hidden />
              <span data-raw className="min-w-0 flex-1 truncate font-medium">{note.title}</span>
              {note.visibility === 'private' && <Badge><Lock size={11} aria-hidden />{t('notes.private')}</Badge>}
              <span className="shrink-0 text-sm text-muted tnum max-sm:hidden">{ago(note.updated_at)}</span>
            </Link>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Team() {
  const { t } = useLanguage();
  const { team } = useIdentity();
  const may = useMay();
  const members = useQuery(membersQuery);
  const shown = members.data?.slice(0, 7) ?? [];
  return (
    <Card>
      <div className="flex items-center gap-2 px-5 pt-4 pb-2">
        <Users size={16} className="text-muted" aria-hidden />
        <h2 data-raw className="min-w-0 flex-1 truncate text-lg font-semibold">{team.name}</h2>
        {members.data && <Badge>{t('home.people', { n: members.data.length })}</Badge>}
      </div>
      {members.isPending && <SkeletonRows rows={2} label={t('app.loading')} />}
      <ul className="px-5 pb-3">
        {shown.map((member) => (
          <li key={member.id} className="flex items-center gap-3 py-1.5">
            <Avatar name={member.display_name} />
            <span data-raw className="min-w-0 flex-1 truncate">{member.display_name}</span>
            <span className="text-sm text-muted">{t(`members.role_${member.role}`)}</span>
          </li>
        ))}
      </ul>
      {may('members:manage') && (
        <div className="border-t border-line p-3">
          <Link to="/settings/members/new" className={buttonClass('ghost', 'medium', 'w-full')}>
            <UserPlus size={16} aria-hidden />
            {t('nav.add_member')}
          </Link>
        </div>
      )}
    </Card>
  );
}
