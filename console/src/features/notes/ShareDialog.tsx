/** Letting colleagues in: who has the note, how far, and since when. */
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { UserRoundSearch, X } from 'lucide-react';
import { useMemo, useState } from 'react';
import { api, value, type Schemas } from '@/api/client';
import { membersQuery, type Member, type Note } from '@/api/queries';
import { useLanguage } from '@/i18n/language';
import { score } from '@/app/score';
import { useIdentity } from '@/app/session';
import { Avatar, SkeletonRows } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { Field, TextField } from '@/ui/Field';
import { Dialog, DialogActions, IconButton } from '@/ui/Overlay';
import { Problem } from '@/ui/Problem';
import { toast } from '@/ui/toast';
import { noteKey } from './server';

type Share = Schemas['NoteShare'];
type Permission = Share['permission'];
type Whom = Pick<Share, 'user_id' | 'username' | 'display_name'>;
const PERMISSIONS: Permission[] = ['notes:read', 'notes:write', 'notes:delete', 'notes:manage'];
const wordOf = (permission: Permission) => permission.replace('notes:', '') as 'read' | 'write' | 'delete' | 'manage';

const sharesQuery = (id: string) =>
  queryOptions({
    queryKey: [...noteKey(id), 'shares'],
    queryFn: async () => {
      const found: Share[] = [];
      let cursor: string | null | undefined;
      do {
        const page: Schemas['Page_NoteShare_'] = await value(
          api.GET('/api/notes/{id}/shares', { params: { path: { id }, query: { limit: 200, ...(cursor ? { cursor } : {}) } } }),
        );
        found.push(...page.items);
        cursor = page.next_cursor;
      } while (cursor);
      return found;
    },
  });

/** What the list will be, shown before the server has answered and taken back when it refuses. */
function useShare(note: Note) {
  const { t } = useLanguage();
  const { user } = useIdentity();
  const queries = useQueryClient();
  const { queryKey } = sharesQuery(note.id);
  return useMutation({
    mutationFn: ({ whom, level }: { whom: Whom; level: Permission | null }) =>
      value(api.POST('/api/notes/{id}/share', { params: { path: { id: note.id } }, body: { user_id: whom.user_id, permission: level } })),
    onMutate: async ({ whom, level }) => {
      await queries.cancelQueries({ queryKey });
      const before = queries.getQueryData(queryKey);
      queries.setQueryData(queryKey, (now = []) => {
        const known = now.find((one) => one.user_id === whom.user_id);
        if (!level) return now.filter((one) => one !== known);
        if (known) return now.map((one) => (one === known ? { ...one, permission: level } : one));
        return [...now, { ...whom, permission: level, granted_by: user.id, created_at: new Date().toISOString() }];
      });
      return before;
    },
    onSuccess: (_grant, { whom, level }) => toast(t(level ? 'notes.shared_with' : 'notes.unshared_with', { name: whom.display_name })),
    onError: (_error, _what, before) => queries.setQueryData(queryKey, before),
    onSettled: () => queries.invalidateQueries({ queryKey }),
  });
}

export default function ShareDialog({ note, onClose }: { note: Note; onClose: () => void }) {
  const { t } = useLanguage();
  const members = useQuery(membersQuery);
  const shares = useQuery(sharesQuery(note.id));
  const [permission, setPermission] = useState<Permission>('notes:read');
  const share = useShare(note);
  const others = members.data?.filter((member) => member.id !== note.owner_id) ?? [];
  const shared = new Set(shares.data?.map((one) => one.user_id));
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('notes.share_title', { title: note.title })}
      description={t(note.visibility === 'team' ? 'notes.share_team' : 'notes.share_private')}
    >
      <h3 className="mb-1 text-sm font-semibold">{t('notes.share_access')}</h3>
      {shares.isPending && <SkeletonRows rows={1} label={t('app.loading')} />}
      {(shares.error ?? members.error) && (
        <Problem
          error={shares.error ?? members.error}
          onRetry={() => {
            void shares.refetch();
            void members.refetch();
          }}
        />
      )}
      <ul>
        <Owner note={note} people={members.data ?? []} />
        {shares.data?.map((one) => <Shared key={one.user_id} share={one} onLevel={(level) => share.mutate({ whom: one, level })} />)}
      </ul>
      <div className="my-3"><Problem error={share.error} /></div>
      <div className="border-t border-line pt-4">
        <PermissionField permission={permission} onChange={setPermission} />
        <p className="mt-2 text-sm text-muted">{t('notes.share_versions')}</p>
      </div>
      <People
        people={others.filter((member) => !shared.has(member.id))}
        alone={members.isSuccess && others.length === 0}
        onShare={(whom) => share.mutate({ whom, level: permission })}
      />
      <DialogActions>
        <Button kind="primary" onClick={onClose}>{t('ui.done')}</Button>
      </DialogActions>
    </Dialog>
  );
}

function PermissionField({ permission, onChange }: { permission: Permission; onChange: (permission: Permission) => void }) {
  const { t } = useLanguage();
  return (
    <Field label={t('notes.share_level')} hint={t(`notes.level_${wordOf(permission)}_more`)}>
      {(wiring) => (
        <select {...wiring} value={permission} onChange={(event) => onChange(event.target.value as Permission)} className="field pe-8">
          <Levels />
        </select>
      )}
    </Field>
  );
}

function Levels() {
  const { t } = useLanguage();
  return PERMISSIONS.map((one) => <option key={one} value={one}>{t(`notes.level_${wordOf(one)}`)}</option>);
}

function People({ people, alone, onShare }: { people: Member[]; alone: boolean; onShare: (whom: Whom) => void }) {
  const { t } = useLanguage();
  const [typed, setTyped] = useState('');
  const found = useMemo(
    () => people.filter((member) => !typed.trim() || score(typed.trim(), `${member.display_name} ${member.username}`) >= 0).slice(0, 5),
    [people, typed],
  );
  return (
    <div className="mt-4">
      <TextField
        label={t('notes.share_whom')}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        placeholder={t('notes.share_search')}
        autoComplete="off"
      />
      {alone && (
        <p className="mt-3 flex items-center gap-2 rounded-lg bg-raised p-3 text-sm text-muted">
          <UserRoundSearch size={16} aria-hidden className="shrink-0" />
          {t('notes.share_nobody')}
        </p>
      )}
      <ul className="mt-2 grid gap-0.5">
        {found.map(({ id, username, display_name: name }) => (
          <li key={id} className="flex items-center gap-3 rounded-md px-2 py-1.5 hover:bg-raised">
            <Avatar name={name} />
            <span className="min-w-0 flex-1">
              <span data-raw className="block truncate font-medium">{name}</span>
              <span data-raw className="block truncate text-xs text-muted">{username}</span>
            </span>
            <Button
              size="small"
              onClick={() => onShare({ user_id: id, username, display_name: name })}
              aria-label={t('notes.share_with', { name })}
            >
              {t('notes.share')}
            </Button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Owner({ note, people }: { note: Note; people: Member[] }) {
  const { t } = useLanguage();
  const { user } = useIdentity();
  const owner = people.find((member) => member.id === note.owner_id);
  if (!owner) return null;
  return (
    <li className="flex items-center gap-3 py-1.5">
      <Avatar name={owner.display_name} size={24} />
      <span data-raw className="min-w-0 flex-1 truncate">{owner.display_name}</span>
      <span className="text-sm text-muted">{owner.id === user.id ? t('notes.owner_you') : t('notes.owner')}</span>
    </li>
  );
}

function Shared({ share, onLevel }: { share: Share; onLevel: (level: Permission | null) => void }) {
  const { t, date } = useLanguage();
  const { display_name: name } = share;
  return (
    <li data-testid="share" className="flex items-center gap-3 py-1.5">
      <Avatar name={name} size={24} />
      <span className="min-w-0 flex-1">
        <span data-raw className="block truncate">{name}</span>
        <span className="block truncate text-xs text-muted">{t('notes.shared_since', { date: date(share.created_at) })}</span>
      </span>
      <select
        value={share.permission}
        onChange={(event) => onLevel(event.target.value as Permission)}
        aria-label={t('notes.share_level_of', { name })}
        className="h-8 w-24 rounded-md sm:w-36 border border-line bg-surface px-1.5 text-sm"
      >
        <Levels />
      </select>
      <IconButton label={t('notes.share_withdraw', { name })} onClick={() => onLevel(null)}>
        <X size={15} aria-hidden />
      </IconButton>
    </li>
  );
}
