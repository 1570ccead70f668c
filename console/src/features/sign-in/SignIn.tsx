import { useNavigate, useSearch } from '@tanstack/react-router';
import { Clock } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import { api, value } from '@/api/client';
import { isRefusal } from '@/api/refusal';
import { useLanguage } from '@/i18n/language';
import { lazyPart } from '@/app/lazily';
import { useSignIn } from '@/app/session';
import { Button } from '@/ui/Button';
import { TextField } from '@/ui/Field';
import { PasswordField } from '@/ui/PasswordField';
import { Problem } from '@/ui/Problem';
import { useAttempt } from './attempt';
import { Outside } from './Outside';

// Needed only after a good password, so the form does not wait for it.
const CodeStep = lazyPart(() => import('./CodeStep'));

interface Credentials {
  username: string;
  password: string;
  code?: string;
}

/** Only addresses of this console: a link must not send people elsewhere after they signed in. */
const safeTarget = (to: unknown): string => (typeof to === 'string' && /^\/(?!\/)/.test(to) ? to : '/');

export default function SignIn() {
  const { t } = useLanguage();
  const search = useSearch({ strict: false }) as { to?: string; reason?: string };
  const navigate = useNavigate();
  const signIn = useSignIn();
  const [known, setKnown] = useState<Credentials | null>(null);
  const attempt = useAttempt(
    (body: Credentials) => value(api.POST('/api/login', { body })),
    () => {
      signIn();
      return navigate({ href: safeTarget(search.to), replace: true });
    },
    (error, body) => {
      if (isRefusal(error, 'identity.totp_required')) setKnown(body);
    },
  );
  const problem = isRefusal(attempt.error, 'identity.totp_required') ? null : attempt.error;
  if (known) {
    const back = () => {
      setKnown(null);
      attempt.reset();
    };
    return <CodeStep busy={attempt.busy} problem={problem} onBack={back} onCode={(code) => attempt.try({ ...known, code })} />;
  }
  return (
    <Outside title={t('signin.title')} lead={t('signin.lead')}>
      {search.reason === 'ended' && (
        <p role="status" className="mb-4 flex items-start gap-2 rounded-lg bg-info-soft px-3 py-2.5 text-info">
          <Clock size={16} className="mt-0.5 shrink-0" aria-hidden />
          {t('signin.ended')}
        </p>
      )}
      <PasswordStep busy={attempt.busy} problem={problem} onCredentials={attempt.try} />
    </Outside>
  );
}

function PasswordStep({
  busy,
  problem,
  onCredentials,
}: {
  busy: boolean;
  problem: Error | null;
  onCredentials: (credentials: Credentials) => void;
}) {
  const { t, rich } = useLanguage();
  const [empty, setEmpty] = useState(false);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const [username, password] = [String(form.get('username')).trim(), String(form.get('password'))];
    setEmpty(!username || !password);
    if (username && password) onCredentials({ username, password });
  };
  return (
    <form noValidate className="grid gap-4" onSubmit={submit}>
      <TextField label={t('signin.username')} name="username" autoComplete="username" autoCapitalize="none" spellCheck={false} autoFocus />
      <PasswordField
        label={t('signin.password')}
        name="password"
        autoComplete="current-password"
        problem={empty ? t('signin.both_needed') : undefined}
      />
      <Problem error={problem} />
      <Button type="submit" kind="primary" size="large" busy={busy} className="mt-1 w-full">{t('signin.submit')}</Button>
      <p className="text-sm text-muted">{t('signin.new_here')}</p>
      <details className="text-sm text-muted">
        <summary className="w-fit rounded-sm py-1 text-link">{t('signin.forgot')}</summary>
        <p className="mt-1">{t('signin.forgot_ask')}</p>
        <p className="mt-1">
          {rich('signin.forgot_run', {
            code: (parts) => <code key="code" data-raw className="font-mono break-all">{parts}</code>,
          })}
        </p>
      </details>
    </form>
  );
}
