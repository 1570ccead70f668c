import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Lock, LockOpen } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import { api, value } from '@/api/client';
import { identityQuery } from '@/api/queries';
import { useLanguage } from '@/i18n/language';
import { Card } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { TextField } from '@/ui/Field';
import { Dialog, DialogActions } from '@/ui/Overlay';
import { Problem } from '@/ui/Problem';
import { toast } from '@/ui/toast';
import type { Company } from './companies';

/** The danger zone: stopping a company asks for its name, letting it go on does not. */
export function Suspension({ company }: { company: Company }) {
  const { t, dateTime } = useLanguage();
  const [asking, setAsking] = useState(false);
  const queries = useQueryClient();
  const path = { params: { path: { ref: company.slug } } };
  const set = useMutation({
    mutationFn: (suspended: boolean) =>
      value(suspended ? api.POST('/api/orgs/{ref}/suspend', path) : api.POST('/api/orgs/{ref}/resume', path)),
    onSuccess: (changed) => {
      setAsking(false);
      toast(t(changed.suspended ? 'companies.suspended' : 'companies.resumed', { name: company.name }));
      void queries.invalidateQueries({ queryKey: ['companies'] });
      void queries.invalidateQueries(identityQuery);
    },
  });
  return (
    <Card className="border-danger/40! p-5">
      <h2 className="text-lg font-semibold">{t(company.suspended ? 'companies.resume_title' : 'companies.suspend_title')}</h2>
      <p className="mt-0.5 mb-4 text-muted">
        {company.suspended_at ? t('companies.resume_lead', { when: dateTime(company.suspended_at) }) : t('companies.suspend_lead')}
      </p>
      {company.suspended ? (
        <Button kind="primary" busy={set.isPending} onClick={() => set.mutate(false)}>
          <LockOpen size={15} aria-hidden />
          {t('companies.resume')}
        </Button>
      ) : (
        <Button kind="danger" onClick={() => setAsking(true)}>
          <Lock size={15} aria-hidden />
          {t('companies.suspend')}
        </Button>
      )}
      {!asking && <div className="mt-3"><Problem error={set.error} /></div>}
      {asking && (
        <TypedName
          company={company}
          busy={set.isPending}
          error={set.error}
          onClose={() => setAsking(false)}
          onConfirm={() => set.mutate(true)}
        />
      )}
    </Card>
  );
}

function TypedName({
  company,
  busy,
  error,
  onClose,
  onConfirm,
}: {
  company: Company;
  busy: boolean;
  error: Error | null;
  onClose: () => void;
  onConfirm: () => void;
}) {
  const { t, rich } = useLanguage();
  const [typed, setTyped] = useState('');
  const same = typed.trim() === company.name;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (same) onConfirm();
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('companies.suspend_question', { name: company.name })}
      description={t('companies.suspend_body')}
    >
      <form noValidate onSubmit={submit} className="grid gap-4">
        <p>
          {rich('companies.type_name', {
            name: company.name,
            b: (parts) => <b key="name" data-raw className="font-semibold select-all">{parts}</b>,
          })}
        </p>
        <TextField
          label={t('companies.name')}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          autoComplete="off"
          autoFocus
          spellCheck={false}
        />
        <Problem error={error} />
        <DialogActions>
          <Button onClick={onClose}>{t('ui.cancel')}</Button>
          <Button type="submit" kind="danger" busy={busy} disabled={!same}>{t('companies.suspend')}</Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
