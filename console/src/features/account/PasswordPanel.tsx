import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState, type FormEvent } from 'react';
import { api, value, type Schemas } from '@/api/client';
import { identityQuery } from '@/api/queries';
import { useLanguage } from '@/i18n/language';
import { useIdentity } from '@/app/session';
import { Button } from '@/ui/Button';
import { PasswordField } from '@/ui/PasswordField';
import { Problem } from '@/ui/Problem';
import { toast } from '@/ui/toast';
import { Panel } from './Panel';

const SHORTEST = 8;
type Changed = Schemas['PasswordChanged'];

/** A new password ends the other sessions; it says what still works, and ends that as well when told to. */
export function PasswordPanel() {
  const { t } = useLanguage();
  const { user } = useIdentity();
  const queries = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const [problem, setProblem] = useState<'current' | 'short' | null>(null);
  const change = useMutation({
    mutationFn: (body: { new_password: string; password: string }) => value(api.POST('/api/password', { body })),
    onSuccess: (changed) => {
      void queries.invalidateQueries(identityQuery);
      void queries.invalidateQueries({ queryKey: ['sessions'] });
      form.current?.reset();
      toast(t('account.password_changed', { n: changed.sessions_ended }));
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const [current, fresh] = [String(data.get('current')), String(data.get('fresh'))];
    const wrong = !current ? 'current' : fresh.length < SHORTEST ? 'short' : null;
    setProblem(wrong);
    if (!wrong) change.mutate({ new_password: fresh, password: current });
  };
  return (
    <Panel title={t('account.password')} body={t('account.password_lead')}>
      <form ref={form} noValidate onSubmit={submit} className="grid gap-4 sm:grid-cols-2">
        <input type="text" name="username" autoComplete="username" defaultValue={user.username} hidden readOnly />
        <PasswordField
          label={t('account.current_password')}
          name="current"
          autoComplete="current-password"
          problem={problem === 'current' ? t('ui.needed') : undefined}
        />
        <PasswordField
          label={t('account.new_password')}
          name="fresh"
          autoComplete="new-password"
          hint={t('signin.password_hint')}
          problem={problem === 'short' ? t('signin.password_hint') : undefined}
        />
        <div className="grid gap-4 sm:col-span-2">
          <Problem error={change.error} />
          <div>
            <Button type="submit" kind="primary" busy={change.isPending}>{t('account.change_password')}</Button>
          </div>
        </div>
      </form>
      {change.data && change.data.tokens + change.data.s3_keys > 0 && (
        <Left key={change.submittedAt} left={change.data} password={change.variables.new_password} />
      )}
    </Panel>
  );
}

/** What the old password's owner may have made in the meantime still works; whoever fears that ends it here. */
function Left({ left, password }: { left: Changed; password: string }) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const end = useMutation({
    mutationFn: () => value(api.POST('/api/password', { body: { new_password: password, password, end: 'all' } })),
    onSuccess: () => void queries.invalidateQueries({ queryKey: ['tokens'] }),
  });
  if (end.data) {
    return (
      <p role="status" className="mt-4 rounded-lg bg-success-soft px-3 py-2.5 text-success">
        {t('account.left_ended', { tokens: end.data.tokens_ended, keys: end.data.s3_keys_ended })}
      </p>
    );
  }
  return (
    <div role="status" className="mt-4 grid gap-3 rounded-lg bg-info-soft px-3 py-2.5 text-info">
      <p>{t('account.left', { tokens: left.tokens, keys: left.s3_keys })}</p>
      <Problem error={end.error} />
      <div><Button size="small" busy={end.isPending} onClick={() => end.mutate()}>{t('account.left_end')}</Button></div>
    </div>
  );
}
