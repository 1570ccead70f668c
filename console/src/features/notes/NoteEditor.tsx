import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import clsx from 'clsx';
import { ArrowLeft, Eye, History, Link as LinkIcon, Lock, MoreHorizontal, PenLine, Share2, Trash2, Users } from 'lucide-react';
import { useState } from 'react';
import { api } from '@/api/client';
import type { NoteReply } from '@/api/queries';
import { useAbilities } from '@/app/abilities';
import { useDelete } from '@/app/deleting';
import { useLanguage } from '@/i18n/language';
import { lazyDialog } from '@/app/lazy-dialog';
import { useMemberName } from '@/app/member-name';
import { CurlButton, PinButton } from '@/app/Page';
import { useIdentity } from '@/app/session';
import { useShortcuts } from '@/app/shortcuts';
import { useTitle } from '@/app/title';
import { Button } from '@/ui/Button';
import { IconButton, Menu, MenuContent, MenuItem } from '@/ui/Overlay';
import { Problem, wordsFor } from '@/ui/Problem';
import { toast } from '@/ui/toast';
import { isRefusal } from '@/api/refusal';
import { TextBody } from '@/app/writing/TextBody';
import { TitleField } from '@/app/writing/TitleField';
import type { Autosave, Snapshot } from '@/app/writing/autosave';
import { SaveNews } from '@/app/writing/SaveNews';

const ShareDialog = lazyDialog(() => import('./ShareDialog'));
const MODE = 'atrium.note_mode';

interface Props {
  autosave: Autosave<NoteReply>;
  snapshot: Snapshot<NoteReply>;
}

export function NoteEditor({ autosave, snapshot }: Props) {
  const { t } = useLanguage();
  const { fresh } = useSearch({ strict: false }) as { fresh?: boolean };
  const may = useAbilities(snapshot.kept);
  const mine = snapshot.kept.owner_id === useIdentity().user.id;
  const [writing, setWriting] = useState(
    () => may.writes && (fresh === true || localStorage.getItem(MODE) !== 'read') && (mine || snapshot.kept.visibility === 'team'),
  );
  const [sharing, setSharing] = useState(false);
  const navigate = useNavigate();
  useTitle(snapshot.text.title || t('notes.untitled'));
  const turn = (next: boolean) => {
    localStorage.setItem(MODE, next ? 'write' : 'read');
    setWriting(next);
  };
  useShortcuts([
    { keys: 'h', label: 'notes.history', run: () => void navigate({ to: '/notes/$id/history', params: { id: snapshot.kept.id } }) },
    ...(may.writes ? [{ keys: 'e', label: 'notes.key_edit', run: () => setWriting((now) => !now) } as const] : []),
    ...(may.manages ? [{ keys: 's', label: 'notes.key_share', run: () => setSharing(true) } as const] : []),
  ]);
  return (
    <article className="flex min-h-full flex-col bg-surface lg:min-h-dvh">
      <Toolbar autosave={autosave} snapshot={snapshot} may={may} writing={writing} onTurn={turn} onShare={() => setSharing(true)} />
      <div className="mx-auto w-full max-w-3xl flex-1 px-4 py-6 sm:px-8 lg:py-10">
        {snapshot.error && snapshot.state === 'refused' && (
          <div className="mb-4">
            <Problem error={snapshot.error} onRetry={() => void autosave.flush()} />
          </div>
        )}
        {snapshot.restored && (
          <p role="status" className="mb-4 rounded-lg bg-info-soft px-3 py-2.5 text-info">{t('writing.restored')}</p>
        )}
        <TitleField
          title={snapshot.text.title}
          writing={writing}
          select={fresh === true}
          label={t('notes.title_field')}
          placeholder={t('notes.title_placeholder')}
          onTitle={(title) => autosave.edit({ title })}
        />
        <TextBody
          body={snapshot.text.body}
          writing={writing}
          generation={snapshot.generation}
          onBody={(body) => autosave.edit({ body })}
          label={t('notes.body')}
          placeholder={t('notes.body_placeholder')}
          empty={t('notes.empty_body')}
        />
      </div>
      {sharing && <ShareDialog note={snapshot.kept} onClose={() => setSharing(false)} />}
    </article>
  );
}

interface ToolbarProps extends Props {
  may: ReturnType<typeof useAbilities>;
  writing: boolean;
  onTurn: (writing: boolean) => void;
  onShare: () => void;
}

function Toolbar({ autosave, snapshot, may, writing, onTurn, onShare }: ToolbarProps) {
  const { t } = useLanguage();
  const me = useIdentity().user.id;
  const by = useMemberName(snapshot.kept.updated_by === me ? undefined : snapshot.kept.updated_by);
  return (
    <div className="sticky top-13 z-20 flex min-h-13 flex-wrap items-center gap-x-2 gap-y-1 border-b border-line bg-surface px-2 py-2 sm:px-4 md:top-0">
      <Link
        to="/notes"
        aria-label={t('notes.back_to_list')}
        className="grid size-8 place-items-center rounded-md text-muted hover:bg-raised lg:hidden"
      >
        <ArrowLeft size={17} aria-hidden className="rtl:rotate-180" />
      </Link>
      <SaveNews snapshot={snapshot} by={by} />
      <div className="ms-auto flex items-center gap-1.5">
        {may.writes && (
          <div role="group" aria-label={t('notes.view')} className="flex rounded-md bg-raised p-0.5">
            {(
              [
                [true, PenLine, 'notes.write'],
                [false, Eye, 'notes.preview'],
              ] as const
            ).map(([turn, Icon, label]) => (
              <button
                key={label}
                type="button"
                aria-pressed={writing === turn}
                onClick={() => onTurn(turn)}
                className={clsx(
                  'flex h-7 items-center gap-1.5 rounded-sm px-2 text-sm font-medium',
                  writing === turn ? 'bg-surface text-text shadow-card' : 'text-muted hover:text-text',
                )}
              >
                <Icon size={14} aria-hidden />
                <span className="max-sm:sr-only lg:max-xl:sr-only">{t(label)}</span>
              </button>
            ))}
          </div>
        )}
        {may.manages && <VisibilityMenu autosave={autosave} snapshot={snapshot} />}
        {may.manages && (
          <Button size="small" className="h-8" onClick={onShare}>
            <Share2 size={14} aria-hidden />
            <span className="max-sm:sr-only">{t('notes.share')}</span>
          </Button>
        )}
        <PinButton title={snapshot.text.title || t('notes.untitled')} raw />
        <CurlButton />
        <MoreMenu snapshot={snapshot} deletes={may.deletes} />
      </div>
    </div>
  );
}

function VisibilityMenu({ autosave, snapshot }: Props) {
  const language = useLanguage();
  const { t } = language;
  const { visibility } = snapshot.kept;
  const choose = async (next: typeof visibility) => {
    try {
      await autosave.show(next);
      toast(t(next === 'team' ? 'notes.now_team' : 'notes.now_private'));
    } catch (error) {
      if (isRefusal(error)) toast(wordsFor(language, error));
    }
  };
  const Icon = visibility === 'team' ? Users : Lock;
  return (
    <Menu.Root>
      <Menu.Trigger asChild>
        <Button size="small" className="h-8">
          <Icon size={14} aria-hidden />
          <span className="max-sm:sr-only">{t(`notes.${visibility}`)}</span>
        </Button>
      </Menu.Trigger>
      <MenuContent align="end">
        {(
          [
            ['private', Lock],
            ['team', Users],
          ] as const
        ).map(([name, Choice]) => (
          <Menu.Item
            key={name}
            onSelect={() => void (name === visibility || choose(name))}
            className="flex w-72 cursor-pointer gap-2.5 rounded-md p-2.5 outline-none data-highlighted:bg-raised"
          >
            <Choice size={16} className="mt-0.5 shrink-0 text-muted" aria-hidden />
            <span>
              <span className="block font-medium">{t(`notes.${name}`)}</span>
              <span className="block text-sm text-muted">{t(`notes.${name}_more`)}</span>
            </span>
          </Menu.Item>
        ))}
      </MenuContent>
    </Menu.Root>
  );
}

function MoreMenu({ snapshot, deletes }: { snapshot: Snapshot<NoteReply>; deletes: boolean }) {
  const { t } = useLanguage();
  const navigate = useNavigate();
  const remove = useDelete();
  const copy = async () => {
    await navigator.clipboard?.writeText(location.href.replace(/\?fresh=true/, ''));
    toast(t('notes.link_copied'));
  };
  const drop = () => {
    const { id, title } = snapshot.kept;
    void remove({ id, name: title, remove: () => api.DELETE('/api/notes/{id}', { params: { path: { id } } }) });
    void navigate({ to: '/notes' });
  };
  return (
    <Menu.Root>
      <Menu.Trigger asChild><IconButton label={t('ui.more_actions')}><MoreHorizontal size={17} aria-hidden /></IconButton></Menu.Trigger>
      <MenuContent align="end">
        <MenuItem onSelect={() => void navigate({ to: '/notes/$id/history', params: { id: snapshot.kept.id } })}>
          <History size={15} aria-hidden />
          {t('notes.history')}
        </MenuItem>
        <MenuItem onSelect={() => void copy()}>
          <LinkIcon size={15} aria-hidden />
          {t('notes.copy_link')}
        </MenuItem>
        {deletes && (
          <MenuItem danger onSelect={drop}>
            <Trash2 size={15} aria-hidden />
            {t('notes.delete')}
          </MenuItem>
        )}
      </MenuContent>
    </Menu.Root>
  );
}
