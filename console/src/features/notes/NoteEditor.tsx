import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import clsx from 'clsx';
import { ArrowLeft, Eye, Link as LinkIcon, Lock, MoreHorizontal, PenLine, Share2, Trash2, Users } from 'lucide-react';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import type { Note } from '@/api/queries';
import { useLanguage } from '@/app/language';
import { CurlButton } from '@/app/Page';
import { useIdentity, useMay, useReadOnly } from '@/app/session';
import { useShortcuts } from '@/app/shortcuts';
import { useTitle } from '@/app/title';
import { Button } from '@/ui/Button';
import { IconButton, Menu, MenuContent, MenuItem } from '@/ui/Overlay';
import { Problem, wordsFor } from '@/ui/Problem';
import { toast } from '@/ui/toast';
import { isRefusal } from '@/api/refusal';
import { useDeleteNote } from './deleting';
import type { Keeper, Snapshot } from '@/app/writing/keeper';
import { SaveNews } from '@/app/writing/SaveNews';
import { ShareDialog } from './ShareDialog';

const MarkdownEditor = lazy(() => import('@/ui/MarkdownEditor'));
const Markdown = lazy(() => import('@/ui/Markdown'));
const MODE = 'atrium.note_mode';

interface Props {
  keeper: Keeper<Note>;
  snapshot: Snapshot<Note>;
}

/** What this person may do here, as far as the console can tell; the server has the last word. */
function useReach(snapshot: Snapshot<Note>) {
  const { user, team } = useIdentity();
  const may = useMay();
  const readOnly = useReadOnly();
  const { kept: note } = snapshot;
  const mine = note.owner_id === user.id;
  const ours = note.team_id === team.id && note.visibility === 'team';
  return {
    mine,
    writes: !readOnly && (mine || (ours ? may('notes:write') : note.team_id !== team.id || note.visibility === 'private')),
    manages: !readOnly && (mine || (ours && may('notes:manage'))),
    deletes: !readOnly && (mine || (ours && may('notes:manage'))),
  };
}

export function NoteEditor({ keeper, snapshot }: Props) {
  const { t } = useLanguage();
  const { fresh } = useSearch({ strict: false }) as { fresh?: boolean };
  const reach = useReach(snapshot);
  const [writing, setWriting] = useState(() => reach.writes && (fresh === true || localStorage.getItem(MODE) !== 'read') && (reach.mine || snapshot.kept.visibility === 'team'));
  const [sharing, setSharing] = useState(false);
  useTitle(snapshot.text.title || t('notes.untitled'));
  const turn = (next: boolean) => {
    localStorage.setItem(MODE, next ? 'write' : 'read');
    setWriting(next);
  };
  useShortcuts([
    ...(reach.writes ? [{ keys: 'e', label: 'notes.key_edit', run: () => setWriting((now) => !now) } as const] : []),
    ...(reach.manages ? [{ keys: 's', label: 'notes.key_share', run: () => setSharing(true) } as const] : []),
  ]);
  return (
    <article className="flex min-h-full flex-col bg-surface lg:min-h-dvh">
      <Toolbar keeper={keeper} snapshot={snapshot} reach={reach} writing={writing} onTurn={turn} onShare={() => setSharing(true)} />
      <div className="mx-auto w-full max-w-3xl flex-1 px-4 py-6 sm:px-8 lg:py-10">
        {snapshot.error && snapshot.state === 'refused' && <div className="mb-4"><Problem error={snapshot.error} action={<Button size="small" onClick={() => void keeper.flush()}>{t('ui.retry')}</Button>} /></div>}
        {snapshot.restored && <p role="status" className="mb-4 rounded-lg bg-info-soft px-3 py-2.5 text-info">{t('writing.restored')}</p>}
        <TitleField keeper={keeper} snapshot={snapshot} writing={writing} select={fresh === true} />
        <Suspense fallback={<div className="h-72" />}>
          {writing
            ? <MarkdownEditor key={snapshot.generation} value={snapshot.text.body} onChange={(body) => keeper.edit({ body })} label={t('notes.body')} placeholder={t('notes.body_placeholder')} />
            : snapshot.text.body.trim() ? <div data-raw className="prose"><Markdown source={snapshot.text.body} /></div> : <p className="text-muted">{t('notes.empty_body')}</p>}
        </Suspense>
      </div>
      {sharing && <ShareDialog note={snapshot.kept} onClose={() => setSharing(false)} />}
    </article>
  );
}

function TitleField({ keeper, snapshot, writing, select }: Props & { writing: boolean; select: boolean }) {
  const { t } = useLanguage();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (select) field.current?.select();
  }, [select]);
  if (!writing) return <h1 data-raw className="mb-5 text-2xl font-semibold break-words">{snapshot.text.title}</h1>;
  const toBody = (event: React.KeyboardEvent) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    document.querySelector<HTMLElement>('[data-editor]')?.shadowRoot?.querySelector<HTMLElement>('.cm-content')?.focus();
  };
  return (
    <>
      <h1 data-raw className="sr-only">{snapshot.text.title}</h1>
      <input ref={field} value={snapshot.text.title} maxLength={300} onChange={(event) => keeper.edit({ title: event.target.value })} onKeyDown={toBody} aria-label={t('notes.title_field')} placeholder={t('notes.title_placeholder')} className="mb-4 w-full bg-transparent text-2xl font-semibold tracking-tight outline-none" />
    </>
  );
}

interface ToolbarProps extends Props {
  reach: ReturnType<typeof useReach>;
  writing: boolean;
  onTurn: (writing: boolean) => void;
  onShare: () => void;
}

function Toolbar({ keeper, snapshot, reach, writing, onTurn, onShare }: ToolbarProps) {
  const { t } = useLanguage();
  return (
    <div className="sticky top-13 z-20 flex min-h-13 flex-wrap items-center gap-x-2 gap-y-1 border-b border-line bg-surface px-2 py-2 sm:px-4 md:top-0">
      <Link to="/notes" aria-label={t('notes.back_to_list')} className="grid size-8 place-items-center rounded-md text-muted hover:bg-raised lg:hidden"><ArrowLeft size={17} aria-hidden className="rtl:rotate-180" /></Link>
      <SaveNews snapshot={snapshot} />
      <div className="ms-auto flex items-center gap-1.5">
        {reach.writes && (
          <div role="group" aria-label={t('notes.view')} className="flex rounded-md bg-raised p-0.5">
            {([[true, PenLine, 'notes.write'], [false, Eye, 'notes.preview']] as const).map(([turn, Icon, label]) => (
              <button key={label} type="button" aria-pressed={writing === turn} onClick={() => onTurn(turn)} className={clsx('flex h-7 items-center gap-1.5 rounded-sm px-2 text-sm font-medium', writing === turn ? 'bg-surface text-text shadow-card' : 'text-muted hover:text-text')}>
                <Icon size={14} aria-hidden /><span className="max-sm:sr-only">{t(label)}</span>
              </button>
            ))}
          </div>
        )}
        {reach.manages && <VisibilityMenu keeper={keeper} snapshot={snapshot} />}
        {reach.manages && <Button size="small" className="h-8" onClick={onShare}><Share2 size={14} aria-hidden /><span className="max-sm:sr-only">{t('notes.share')}</span></Button>}
        <CurlButton />
        <MoreMenu snapshot={snapshot} deletes={reach.deletes} />
      </div>
    </div>
  );
}

function VisibilityMenu({ keeper, snapshot }: Props) {
  const language = useLanguage();
  const { t } = language;
  const { visibility } = snapshot.kept;
  const choose = async (next: typeof visibility) => {
    try {
      await keeper.show(next);
      toast(t(next === 'team' ? 'notes.now_team' : 'notes.now_private'));
    } catch (error) {
      if (isRefusal(error)) toast(wordsFor(language, error));
    }
  };
  const Icon = visibility === 'team' ? Users : Lock;
  return (
    <Menu.Root>
      <Menu.Trigger asChild><Button size="small" className="h-8"><Icon size={14} aria-hidden /><span className="max-sm:sr-only">{t(`notes.${visibility}`)}</span></Button></Menu.Trigger>
      <MenuContent align="end">
        {([['private', Lock], ['team', Users]] as const).map(([name, Choice]) => (
          <Menu.Item key={name} onSelect={() => void (name === visibility || choose(name))} className="flex w-72 cursor-pointer gap-2.5 rounded-md p-2.5 outline-none data-highlighted:bg-raised">
            <Choice size={16} className="mt-0.5 shrink-0 text-muted" aria-hidden />
            <span><span className="block font-medium">{t(`notes.${name}`)}</span><span className="block text-sm text-muted">{t(`notes.${name}_more`)}</span></span>
          </Menu.Item>
        ))}
      </MenuContent>
    </Menu.Root>
  );
}

function MoreMenu({ snapshot, deletes }: { snapshot: Snapshot<Note>; deletes: boolean }) {
  const { t } = useLanguage();
  const navigate = useNavigate();
  const remove = useDeleteNote();
  const copy = async () => {
    await navigator.clipboard?.writeText(location.href.replace(/\?fresh=true/, ''));
    toast(t('notes.link_copied'));
  };
  const drop = () => {
    remove(snapshot.kept);
    void navigate({ to: '/notes' });
  };
  return (
    <Menu.Root>
      <Menu.Trigger asChild><IconButton label={t('ui.more_actions')}><MoreHorizontal size={17} aria-hidden /></IconButton></Menu.Trigger>
      <MenuContent align="end">
        <MenuItem onSelect={() => void copy()}><LinkIcon size={15} aria-hidden />{t('notes.copy_link')}</MenuItem>
        {deletes && <MenuItem danger onSelect={drop}><Trash2 size={15} aria-hidden />{t('notes.delete')}</MenuItem>}
      </MenuContent>
    </Menu.Root>
  );
}
