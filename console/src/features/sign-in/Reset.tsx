/** A link that a team admin or whoever runs the server handed over: a new password, and in. Two-factor is asked for as ever. */
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { api, value } from '@/api/client';
import { isRefusal } from '@/api/refusal';
import { useLanguage } from '@/i18n/language';
import { lazyPart } from '@/app/lazily';
import { useSignIn } from '@/app/session';
import { TextField } from '@/ui/Field';
import { useAttempt } from './attempt';
import { NewPassword } from './NewPassword';
import { Outside } from './Outside';

const CodeStep = lazyPart(() => import('./CodeStep'));

interface Choice {
  password: string;
  code?: string;
}

export default function Reset() {
  const { t } = useLanguage();
  const { token: found = '' } = useSearch({ strict: false }) as { token?: string };
  const [token, setToken] = useState(found);
  const [all, setAll] = useState(false);
  const [known, setKnown] = useState<Choice | null>(null);
  useEffect(() => {
    // The token works once it is in memory; in the address bar it would be copied along.
    if (found) history.replaceState(history.state, '', '#/reset');
  }, [found]);
  const reset = useReset(token, all, setKnown);
  const problem = isRefusal(reset.error, 'identity.totp_required') ? null : reset.error;
  if (known) {
    const back = () => {
      setKnown(null);
      reset.reset();
    };
    return <CodeStep busy={reset.busy} problem={problem} onBack={back} onCode={(code) => reset.try({ ...known, code })} />;
  }
  return (
    <Outside title={t('signin.reset_title')} lead={t('signin.reset_lead')}>
      <div className="grid gap-4">
        {!found && (
          <TextField
            label={t('signin.reset_token')}
            value={token}
            onChange={(event) => setToken(event.target.value)}
            autoComplete="off"
            spellCheck={false}
            className="font-mono"
          />
        )}
        <NewPassword busy={reset.busy} error={problem} onPassword={(password) => reset.try({ password })}>
          <label className="flex items-start gap-2.5 text-sm">
            <input
              type="checkbox"
              checked={all}
              onChange={(event) => setAll(event.target.checked)}
              className="mt-0.5 size-4 accent-(--accent)"
            />
            <span>{t('signin.reset_all')}</span>
          </label>
        </NewPassword>
        <Link to="/sign-in" className="flex h-6 items-center justify-self-start text-sm text-link underline underline-offset-2">
          {t('signin.back')}
        </Link>
      </div>
    </Outside>
  );
}

function useReset(token: string, all: boolean, onCode: (known: Choice) => void) {
  const signIn = useSignIn();
  const navigate = useNavigate();
  return useAttempt(
    (choice: Choice) => value(api.POST('/api/password/reset', { body: { token: token.trim(), ...choice, end: all ? 'all' : 'sessions' } })),
    async () => {
      signIn();
      await navigate({ to: '/', replace: true });
    },
    (error, choice) => {
      if (isRefusal(error, 'identity.totp_required')) onCode(choice);
    },
  );
}
