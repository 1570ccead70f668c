import { useState, type FormEvent, type ReactNode } from 'react';
import { useLanguage } from '@/i18n/language';
import { Button } from '@/ui/Button';
import { PasswordField } from '@/ui/PasswordField';
import { Problem } from '@/ui/Problem';
import { isTooShort } from './password';

/** Choosing a first password, by whatever way somebody came in. */
export function NewPassword({
  busy,
  error,
  onPassword,
  children,
}: {
  busy: boolean;
  error: Error | null;
  onPassword: (password: string) => void;
  children?: ReactNode;
}) {
  const { t } = useLanguage();
  const [short, setShort] = useState(false);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const password = String(new FormData(event.currentTarget).get('password'));
    setShort(isTooShort(password));
    if (!isTooShort(password)) onPassword(password);
  };
  return (
    <form noValidate className="grid gap-4" onSubmit={submit}>
      <PasswordField
        label={t('signin.new_password')}
        name="password"
        autoComplete="new-password"
        autoFocus
        hint={t('signin.password_hint')}
        problem={short ? t('signin.password_hint') : undefined}
      />
      {children}
      <Problem error={error} />
      <Button type="submit" kind="primary" size="large" busy={busy} className="w-full">{t('signin.set_password')}</Button>
    </form>
  );
}
