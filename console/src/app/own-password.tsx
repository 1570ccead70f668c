/** Whatever gives a credential or a role asks for the password again: a script in the page can do much, but does not know it. */
import { useState, type ReactNode } from 'react';
import { isRefusal } from '@/api/refusal';
import { PasswordField } from '@/ui/PasswordField';
import { useLanguage } from '@/i18n/language';
import { useIdentity } from './session';

const NAME = 'own_password';

export interface OwnPassword {
  field: ReactNode;
  /** What was typed into a form with the field; null, and said at the field, when nothing was. */
  read: (form: FormData) => string | null;
  /** The server did not take it, which the field says already. */
  refused: boolean;
}

/** A field for the password of whoever is signed in, and what the last answer said about it. */
export function useOwnPassword(error: Error | null, { autoFocus = false } = {}): OwnPassword {
  const { t } = useLanguage();
  const { user } = useIdentity();
  const [missing, setMissing] = useState(false);
  const refused = isRefusal(error, 'identity.confirm_required');
  const problem = missing ? t('ui.needed') : refused ? t('account.wrong_password') : undefined;
  const field = (
    <>
      <input type="text" autoComplete="username" defaultValue={user.username} hidden readOnly />
      <PasswordField
        label={t('app.own_password')}
        name={NAME}
        autoComplete="current-password"
        autoFocus={autoFocus}
        hint={t('app.own_password_hint')}
        problem={problem}
      />
    </>
  );
  const read = (form: FormData) => {
    const typed = String(form.get(NAME) ?? '');
    setMissing(!typed);
    return typed || null;
  };
  return { field, read, refused };
}
