/** Accept, invite or decline, once. An invitation founds the person's company; its link is on screen once. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { isRefusal } from '@/api/refusal';
import { useOwnPassword } from '@/app/own-password';
import { useLanguage } from '@/i18n/language';
import { Field, TextField } from '@/ui/Field';
import { FormDialog } from '@/ui/FormDialog';
import { Secret } from '@/ui/Secret';
import { SecretDialog } from '@/ui/SecretDialog';
import { toast } from '@/ui/toast';
import { addressOf, companyOf, type DeedKind } from './deeds';
import { decide, type Decision, type Prospect } from './queries';

export interface Deed {
  kind: DeedKind;
  prospect: Prospect;
}

interface Props {
  deed: Deed;
  onClose: () => void;
}

const LONGEST_NOTE = 2000;
const USERNAME = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/;

export function DecideDialog({ deed, onClose }: Props) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const { kind, prospect } = deed;
  const name = addressOf(prospect.fields);
  const send = useMutation({
    mutationFn: (body: Decision) => decide(prospect.id, body),
    onSuccess: (decided) => {
      if (decided.activation_url) return;
      toast(t(kind === 'invite' ? 'onboarding.invited_before' : `onboarding.done_${kind}`, { name }));
      onClose();
    },
    // Also when it was refused: what stands may be another person's decision.
    onSettled: () => queries.invalidateQueries({ queryKey: ['onboarding', 'prospects'] }),
  });
  if (send.data?.activation_url) return <Invited name={name} link={send.data.activation_url} onClose={onClose} />;
  const shared = { name, busy: send.isPending, error: send.error, onClose, onSubmit: send.mutate };
  return kind === 'invite' ? <InviteForm {...shared} prospect={prospect} /> : <NoteForm {...shared} kind={kind} />;
}

function Invited({ name, link, onClose }: { name: string; link: string; onClose: () => void }) {
  const { t } = useLanguage();
  return (
    <SecretDialog
      title={t('onboarding.invited_title', { name })}
      description={t('onboarding.invited_lead')}
      warning={t('onboarding.invited_once')}
      action={t('onboarding.invited_done')}
      onClose={onClose}
    >
      <Secret label={t('onboarding.invited_link')} text={link} />
    </SecretDialog>
  );
}

interface FormProps {
  name: string;
  busy: boolean;
  error: Error | null;
  onClose: () => void;
  onSubmit: (body: Decision) => void;
}

function NoteForm({ kind, name, busy, error, onClose, onSubmit }: FormProps & { kind: 'accept' | 'decline' }) {
  const { t } = useLanguage();
  return (
    <FormDialog
      title={t(`onboarding.${kind}_title`, { name })}
      description={t(`onboarding.${kind}_lead`)}
      action={t(`onboarding.${kind}`)}
      busy={busy}
      error={error}
      onClose={onClose}
      onSubmit={(form) => onSubmit({ decision: kind, ...noteIn(form) })}
    >
      <NoteField autoFocus />
    </FormDialog>
  );
}

function noteIn(form: FormData): { note?: string } {
  const note = String(form.get('note') ?? '').trim();
  return note ? { note } : {};
}

function NoteField({ autoFocus = false }: { autoFocus?: boolean }) {
  const { t } = useLanguage();
  return (
    <Field label={t('onboarding.note')} optional={t('ui.optional')} hint={t('onboarding.note_hint')}>
      {(wiring) => (
        <textarea {...wiring} name="note" rows={3} maxLength={LONGEST_NOTE} autoFocus={autoFocus} className="field h-auto py-2" />
      )}
    </Field>
  );
}

function InviteForm({ prospect, name, busy, error, onClose, onSubmit }: FormProps & { prospect: Prospect }) {
  const { t } = useLanguage();
  const [wrong, setWrong] = useState<string[]>([]);
  const own = useOwnPassword(error);
  const taken = isRefusal(error, 'identity.username_taken');
  const submit = (form: FormData) => {
    const text = (field: string) => String(form.get(field)).trim();
    const problems = [!text('org') && 'org', !USERNAME.test(text('username')) && 'username'].filter((one) => one !== false);
    const password = own.read(form);
    setWrong(problems);
    if (problems.length > 0 || !password) return;
    const team = text('team');
    onSubmit({
      decision: 'accept',
      password,
      ...noteIn(form),
      invite: { org: text('org'), username: text('username'), ...(team ? { team } : {}) },
    });
  };
  return (
    <FormDialog
      title={t('onboarding.invite_title', { name })}
      description={t('onboarding.invite_lead')}
      action={t('onboarding.invite')}
      busy={busy}
      error={own.refused || taken ? null : error}
      onClose={onClose}
      onSubmit={submit}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label={t('onboarding.company')}
          name="org"
          defaultValue={companyOf(prospect.fields)}
          autoComplete="off"
          autoFocus
          maxLength={200}
          problem={wrong.includes('org') ? t('ui.needed') : undefined}
        />
        <TextField label={t('onboarding.team')} name="team" autoComplete="off" maxLength={200} optional={t('ui.optional')} />
      </div>
      <TextField
        label={t('onboarding.username')}
        name="username"
        defaultValue={name}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        hint={t('onboarding.username_hint')}
        problem={wrong.includes('username') ? t('onboarding.username_wrong') : taken ? t('errors.identity_username_taken') : undefined}
      />
      {prospect.state === 'captured' && <NoteField />}
      {own.field}
    </FormDialog>
  );
}
