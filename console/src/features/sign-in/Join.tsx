import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState, type FormEvent } from 'react';
import { api, value } from '@/api/client';
import { useLanguage } from '@/i18n/language';
import { useSignIn } from '@/app/session';
import { Button } from '@/ui/Button';
import { TextField } from '@/ui/Field';
import { Problem } from '@/ui/Problem';
import { useAttempt } from './attempt';
import { NewPassword } from './NewPassword';
import { Outside } from './Outside';

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

/** A new member's first visit: the link carries their first token, and they choose a password. */
export default function Join() {
  const { t } = useLanguage();
  const search = useSearch({ strict: false }) as { token?: string };
  const [token, setToken] = useState(search.token ?? '');
  useEffect(() => {
    // The token works once it is in memory; in the address bar it would be copied along.
    if (search.token) history.replaceState(history.state, '', '#/join');
  }, [search.token]);
  const who = useQuery({
    queryKey: ['join', token],
    queryFn: () => value(api.GET('/api/whoami', bearer(token))),
    enabled: token !== '',
    retry: false,
  });
  const welcome = useWelcome(token);
  if (!who.data) {
    return (
      <Outside title={t('signin.join_title')} lead={t('signin.join_lead')}>
        <TokenForm busy={who.isFetching} error={who.error} onToken={setToken} />
      </Outside>
    );
  }
  return (
    <Outside
      title={t('signin.join_hello', { name: who.data.user.display_name })}
      lead={t('signin.join_password', { team: who.data.team.name })}
    >
      <NewPassword busy={welcome.busy} error={welcome.error} onPassword={welcome.try} />
    </Outside>
  );
}

function useWelcome(token: string) {
  const { locale } = useLanguage();
  const signIn = useSignIn();
  const navigate = useNavigate();
  return useAttempt(
    (password: string) => value(api.POST('/api/password', { body: { new_password: password }, ...bearer(token) })),
    async () => {
      signIn();
      await api.POST('/api/profile', { body: { locale } }).catch(() => undefined);
      await navigate({ to: '/', replace: true });
    },
  );
}

function TokenForm({ busy, error, onToken }: { busy: boolean; error: Error | null; onToken: (token: string) => void }) {
  const { t } = useLanguage();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = String(new FormData(event.currentTarget).get('token')).trim();
    if (typed) onToken(typed);
  };
  return (
    <form noValidate className="grid gap-4" onSubmit={submit}>
      <TextField label={t('signin.first_token')} name="token" autoComplete="off" spellCheck={false} autoFocus className="font-mono" />
      <Problem error={error} />
      <Button type="submit" kind="primary" size="large" busy={busy} className="w-full">{t('ui.continue')}</Button>
    </form>
  );
}
