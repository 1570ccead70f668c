import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { api, value, type Schemas } from '@/api/client';
import { useLanguage } from '@/i18n/language';
import { useOwnPassword } from '@/app/own-password';
import { useMay } from '@/app/session';
import { SelectField, TextField } from '@/ui/Field';
import { FormDialog, type FormOf } from '@/ui/FormDialog';
import { Secret } from '@/ui/Secret';
import { SecretDialog } from '@/ui/SecretDialog';
import { Setup } from './Setup';

/** How far a key reaches; within what its owner may do themselves. */
const REACHES = { all: null, write: ['files:read', 'files:write'], read: ['files:read'] } as const;
type Reach = keyof typeof REACHES;

export default function NewKey() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const close = () => void navigate({ to: '/settings/s3-keys' });
  const issue = useMutation({
    mutationFn: (body: Schemas['AccessKeyDraft']) => value(api.POST('/api/s3/credentials', { body })),
    onSuccess: () => void queries.invalidateQueries({ queryKey: ['s3-keys'] }),
  });
  if (issue.data) return <Issued issued={issue.data} onClose={close} />;
  return <KeyForm busy={issue.isPending} error={issue.error} onClose={close} onSubmit={issue.mutate} />;
}

function KeyForm({ busy, error, onClose, onSubmit }: FormOf<Schemas['AccessKeyDraft']>) {
  const { t } = useLanguage();
  const may = useMay();
  const own = useOwnPassword(error);
  const reaches = (Object.keys(REACHES) as Reach[]).filter((reach) => (REACHES[reach] ?? []).every((permission) => may(permission)));
  const submit = (form: FormData) => {
    const scope = REACHES[String(form.get('reach')) as Reach];
    const password = own.read(form);
    if (password) {
      onSubmit({
        name: String(form.get('name')).trim(),
        scope: scope ? [...scope] : null,
        prefix: String(form.get('prefix')).trim() || null,
        password,
      });
    }
  };
  return (
    <FormDialog
      title={t('nav.new_s3_key')}
      description={t('s3.new_lead')}
      action={t('s3.create')}
      busy={busy}
      error={own.refused ? null : error}
      onClose={onClose}
      onSubmit={submit}
    >
      <TextField
        label={t('s3.name')}
        name="name"
        autoComplete="off"
        autoFocus
        maxLength={100}
        optional={t('ui.optional')}
        hint={t('s3.name_hint')}
      />
      <SelectField label={t('s3.reach')} name="reach">
        {reaches.map((reach) => <option key={reach} value={reach}>{t(`s3.reach_${reach}`)}</option>)}
      </SelectField>
      <TextField
        label={t('s3.prefix')}
        name="prefix"
        autoComplete="off"
        spellCheck={false}
        maxLength={1023}
        optional={t('ui.optional')}
        hint={t('s3.prefix_hint')}
      />
      {own.field}
    </FormDialog>
  );
}

function Issued({ issued, onClose }: { issued: Schemas['IssuedKey']; onClose: () => void }) {
  const { t } = useLanguage();
  return (
    <SecretDialog
      wide
      title={t('s3.issued_title')}
      description={t('s3.issued_lead')}
      warning={t('s3.once')}
      action={t('s3.kept')}
      onClose={onClose}
    >
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4 sm:grid-cols-2">
        <Secret label={t('s3.access_key')} text={issued.access_key_id} />
        <Secret label={t('s3.secret')} text={issued.secret_access_key} />
      </div>
      <Setup access={issued} />
    </SecretDialog>
  );
}
