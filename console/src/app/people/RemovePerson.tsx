/** Somebody leaves: who takes over what others use, what becomes of the rest, and afterwards what became of it. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Check } from 'lucide-react';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api, value, type Schemas } from '@/api/client';
import { Button } from '@/ui/Button';
import { SelectField } from '@/ui/Field';
import { Dialog, DialogActions } from '@/ui/Overlay';
import { Problem } from '@/ui/Problem';
import { useLanguage } from '@/i18n/language';
import { useIdentity } from '../session';
import type { PersonDialog } from './dialog';

type Leaving = Required<Schemas['LeaveChoices']>;

export default function RemovePerson({ person, colleagues, onClose }: PersonDialog) {
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: (body: Leaving) => value(api.DELETE('/api/members/{id}', { params: { path: { id: person.id } }, body })),
  });
  const done = () => {
    onClose();
    // Whatever they had may be on any list; they themselves are on the one below, which keeps this open until it is read.
    void queries.invalidateQueries();
  };
  if (remove.data) {
    return (
      <Left
        name={person.display_name}
        heir={colleagues.find((one) => one.id === remove.variables.transfer_to)?.display_name ?? ''}
        removed={remove.data}
        onClose={done}
      />
    );
  }
  return (
    <Ask
      person={person}
      colleagues={colleagues.filter((one) => one.id !== person.id)}
      busy={remove.isPending}
      error={remove.error}
      onRemove={remove.mutate}
      onClose={onClose}
    />
  );
}

interface AskProps extends PersonDialog {
  busy: boolean;
  error: Error | null;
  onRemove: (how: Leaving) => void;
}

function Ask({ person, colleagues, busy, error, onRemove, onClose }: AskProps) {
  const { t } = useLanguage();
  const { user, org_role: own } = useIdentity();
  const [heir, setHeir] = useState(() => (colleagues.some((one) => one.id === user.id) ? user.id : ''));
  const [rest, setRest] = useState<Leaving['private']>('trash');
  const [missing, setMissing] = useState(false);
  const { display_name: name } = person;
  const heirName = colleagues.find((one) => one.id === heir)?.display_name ?? '';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setMissing(!heir);
    if (heir) onRemove({ transfer_to: heir, private: rest });
  };
  return (
    <Dialog open onClose={onClose} title={t('members.remove_title', { name })} description={t('members.remove_lead')}>
      <form noValidate onSubmit={submit} className="grid gap-5">
        <SelectField
          label={t('members.heir')}
          value={heir}
          onChange={(event) => setHeir(event.target.value)}
          hint={t('members.heir_hint')}
          problem={missing ? t('ui.needed') : undefined}
        >
          <option value="">{t('members.heir_choose')}</option>
          {colleagues.map((one) => <option key={one.id} value={one.id} data-raw>{one.display_name}</option>)}
        </SelectField>
        <fieldset className="grid gap-2">
          <legend className="mb-1.5 text-sm font-medium">{t('members.private')}</legend>
          <Choice name="trash" chosen={rest} onChoose={setRest} title={t('members.private_trash')} body={t('members.private_trash_more')} />
          <Choice
            name="transfer"
            chosen={rest}
            onChoose={setRest}
            disabled={own !== 'org_owner'}
            title={heirName ? t('members.private_transfer', { name: heirName }) : t('members.private_transfer_nobody')}
            body={t(own === 'org_owner' ? 'members.private_transfer_more' : 'members.private_transfer_who')}
          />
        </fieldset>
        <Problem error={error} />
        <DialogActions>
          <Button onClick={onClose}>{t('ui.cancel')}</Button>
          <Button type="submit" kind="danger" busy={busy}>{t('members.remove_name', { name })}</Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

interface ChoiceProps {
  name: Leaving['private'];
  chosen: Leaving['private'];
  onChoose: (name: Leaving['private']) => void;
  disabled?: boolean;
  title: string;
  body: string;
}

function Choice({ name, chosen, onChoose, disabled = false, title, body }: ChoiceProps) {
  return (
    <label
      className={`flex items-start gap-3 rounded-lg border p-3 ${chosen === name ? 'border-accent bg-accent-soft' : 'border-line'} ${disabled ? 'cursor-not-allowed' : ''}`}
    >
      <input
        type="radio"
        name="private"
        value={name}
        checked={chosen === name}
        disabled={disabled}
        onChange={() => onChoose(name)}
        className="mt-1 accent-(--accent)"
      />
      <span>
        <span className="block font-medium">{title}</span>
        <span className="block text-sm text-muted">{body}</span>
      </span>
    </label>
  );
}

function Left({ name, heir, removed, onClose }: { name: string; heir: string; removed: Schemas['RemovalReport']; onClose: () => void }) {
  const { t } = useLanguage();
  const { notes, objects, trashed_notes: trashedNotes, trashed_objects: trashedObjects, tokens, s3_keys: keys } = removed;
  return (
    <Dialog open onClose={onClose} title={t('members.left_title', { name })} description={t('members.left_lead')}>
      <ul className="grid gap-2.5">
        <Done>{notes + objects ? t('members.left_moved', { name: heir, notes, files: objects }) : t('members.left_nothing')}</Done>
        {trashedNotes + trashedObjects > 0 && <Done>{t('members.left_trashed', { notes: trashedNotes, files: trashedObjects })}</Done>}
        <Done>{tokens + keys ? t('members.left_ended', { tokens, keys }) : t('members.left_signed_out')}</Done>
      </ul>
      <DialogActions><Button kind="primary" onClick={onClose}>{t('ui.done')}</Button></DialogActions>
    </Dialog>
  );
}

function Done({ children }: { children: ReactNode }) {
  return (
    <li data-testid="left" className="flex items-start gap-2.5">
      <Check size={16} className="mt-0.5 shrink-0 text-success" aria-hidden />
      <span>{children}</span>
    </li>
  );
}
