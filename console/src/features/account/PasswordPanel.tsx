import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState, type FormEvent } from 'react';
import { api, value } from '@/api/client';
import { credential } from '@/api/credential';
import { identityQuery } from '@/api/queries';
import { useLanguage } from '@/app/language';
import { useIdentity } from '@/app/session';
import { Button } from '@/ui/Button';
import { PasswordField } from '@/ui/PasswordField';
import { Problem } from '@/ui/Problem';
import { toast } from '@/ui/toast';
import { Panel } from './Panel';

const SHORTEST = 8;

/** A new password ends the other sessions, and says how many. */
export function PasswordPanel({ first }: { first: boolean }) {
  const { t } = useLanguage();
  const { user } = useIdentity();
  const queries = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const [problem, setProblem] = useState<'current' | 'short' | null>(null);
  const change = useMutation({
    mutationFn: (body: { new_password: string; password?: string }) => value(api.POST('/api/password', { body })),
    onSuccess: (changed) => {
      if (changed.token) credential.set(changed.token);
      void queries.invalidateQueries(identityQuery);
      form.current?.reset();
      toast(t('account.password_changed', { n: changed.sessions_ended }));
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const [current, fresh] = [String(data.get('current') ?? ''), String(data.get('fresh'))];
    const wrong = !first && !current ? 'current' : fresh.length < SHORTEST ? 'short' : null;
    setProblem(wrong);
    if (!wrong) change.mutate({ new_password: fresh, ...(first ? {} : { password: current }) });
  };
  return (
    <Panel title={t('account.password')} body={t(first ? 'account.password_first' : 'account.password_lead')}>
      <form ref={form} noValidate onSubmit={submit} className="grid gap-4 sm:grid-cols-2">
        <input type="text" name="username" autoComplete="username" defaultValue={user.username} hidden readOnly />
        {!first && <PasswordField label={t('account.current_password')} name="current" autoComplete="current-password" problem={problem === 'current' ? t('ui.needed') : undefined} />}
        <PasswordField label={t('account.new_password')} name="fresh" autoComplete="new-password" hint={t('signin.password_hint')} problem={problem === 'short' ? t('signin.password_hint') : undefined} />
        <div className="grid gap-4 sm:col-span-2"><Problem error={change.error} /><div><Button type="submit" kind="primary" busy={change.isPending}>{t('account.change_password')}</Button></div></div>
      </form>
    </Panel>
  );
}
