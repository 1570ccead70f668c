import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { TriangleAlert } from 'lucide-react';
import { type FormEvent } from 'react';
import { api, value, type Schemas } from '@/api/client';
import { useLanguage } from '@/app/language';
import { useMay } from '@/app/session';
import { Button } from '@/ui/Button';
import { SelectField, TextField } from '@/ui/Field';
import { Dialog, DialogActions } from '@/ui/Overlay';
import { Problem } from '@/ui/Problem';
import { Secret } from '@/ui/Secret';
import { Setup } from './Setup';

/** How far a key reaches; within what its owner may do themselves. */
const REACHES = { all: null, write: ['files:read', 'files:write'], read: ['files:read'] } as const;
type Reach = keyof typeof REACHES;

export default function NewKey() {
  const { t } = useLanguage();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const close = () => void navigate({ to: '/s3-keys' });
  const issue = useMutation({
    mutationFn: (body: Schemas['AccessKeyDraft']) => value(api.POST('/api/s3/credentials', { body })),
    onSuccess: () => void queries.invalidateQueries({ queryKey: ['s3-keys'] }),
  });
  if (issue.data) return <Issued issued={issue.data} onClose={close} />;
  return (
    <Dialog open onClose={close} title={t('s3.new')} description={t('s3.new_lead')}>
      <KeyForm busy={issue.isPending} error={issue.error} onCancel={close} onKey={issue.mutate} />
    </Dialog>
  );
}

function KeyForm({ busy, error, onCancel, onKey }: { busy: boolean; error: Error | null; onCancel: () => void; onKey: (draft: Schemas['AccessKeyDraft']) => void }) {
  const { t } = useLanguage();
  const may = useMay();
  const reaches = (Object.keys(REACHES) as Reach[]).filter((reach) => (REACHES[reach] ?? []).every((permission) => may(permission)));
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const scope = REACHES[String(form.get('reach')) as Reach];
    onKey({ name: String(form.get('name')).trim(), scope: scope ? [...scope] : null });
  };
  return (
    <form noValidate className="grid gap-4" onSubmit={submit}>
      <TextField label={t('s3.name')} name="name" autoComplete="off" autoFocus maxLength={100} optional={t('ui.optional')} hint={t('s3.name_hint')} />
      <SelectField label={t('s3.reach')} name="reach">{reaches.map((reach) => <option key={reach} value={reach}>{t(`s3.reach_${reach}`)}</option>)}</SelectField>
      <Problem error={error} />
      <DialogActions><Button onClick={onCancel}>{t('ui.cancel')}</Button><Button type="submit" kind="primary" busy={busy}>{t('s3.create')}</Button></DialogActions>
    </form>
  );
}

function Issued({ issued, onClose }: { issued: Schemas['IssuedKey']; onClose: () => void }) {
  const { t } = useLanguage();
  return (
    <Dialog open wide onClose={onClose} dismissable={false} title={t('s3.issued_title')} description={t('s3.issued_lead')}>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
        <div className="grid grid-cols-[minmax(0,1fr)] gap-4 sm:grid-cols-2"><Secret label={t('s3.access_key')} text={issued.access_key_id} /><Secret label={t('s3.secret')} text={issued.secret_access_key} /></div>
        <p className="flex items-start gap-2 rounded-lg bg-warning-soft px-3 py-2.5 text-sm text-warning"><TriangleAlert size={16} className="mt-0.5 shrink-0" aria-hidden />{t('s3.once')}</p>
        <Setup access={issued} />
      </div>
      <DialogActions><Button kind="primary" onClick={onClose}>{t('s3.kept')}</Button></DialogActions>
    </Dialog>
  );
}
