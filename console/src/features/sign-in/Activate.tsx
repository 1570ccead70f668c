import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, value } from '@/api/client';
import { activationToken } from '@/app/landing';
import { useLanguage } from '@/i18n/language';
import { useSignIn } from '@/app/session';
import { TextField } from '@/ui/Field';
import { useAttempt } from './attempt';
import { NewPassword } from './NewPassword';
import { Outside } from './Outside';

/** A hosted owner's magic link: the token came in the address's fragment, the password is theirs to choose. */
export default function Activate() {
  const { t, locale } = useLanguage();
  const [token, setToken] = useState(activationToken());
  const signIn = useSignIn();
  const navigate = useNavigate();
  const activation = useAttempt(
    (password: string) => value(api.POST('/api/activate', { body: { token: token.trim(), password } })),
    async () => {
      signIn();
      await api.POST('/api/profile', { body: { locale } }).catch(() => undefined);
      await navigate({ to: '/', replace: true });
    },
  );
  return (
    <Outside title={t('signin.activate_title')} lead={t('signin.activate_lead')}>
      <div className="grid gap-4">
        {!activationToken() && (
          <TextField
            label={t('signin.activation_token')}
            value={token}
            onChange={(event) => setToken(event.target.value)}
            autoComplete="off"
            spellCheck={false}
            className="font-mono"
          />
        )}
        <NewPassword busy={activation.busy} error={activation.error} onPassword={activation.try} />
      </div>
    </Outside>
  );
}
