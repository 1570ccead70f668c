import { useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { api, value } from '@/api/client';
import { isRefusal } from '@/api/refusal';
import { useLanguage } from '@/i18n/language';
import { useSignIn } from '@/app/session';
import { Button } from '@/ui/Button';
import { TextField } from '@/ui/Field';
import { PasswordField } from '@/ui/PasswordField';
import { Problem } from '@/ui/Problem';
import { useAttempt } from './attempt';
import { Outside } from './Outside';
import { isTooShort } from './password';

const FIELDS = ['org', 'team', 'username', 'password'] as const;
type Draft = Record<(typeof FIELDS)[number], string>;

/** The first minute of an instance: who runs it, and what the company is called. */
export default function FirstRun() {
  const { t } = useLanguage();
  const found = useFound();
  const [problems, setProblems] = useState<Partial<Record<keyof Draft, string>>>({});
  const guarded = isRefusal(found.error, 'instance.bootstrap_token');
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const draft = Object.fromEntries(FIELDS.map((name) => [name, String(form.get(name))])) as Draft;
    const wrong = problemsOf(draft, t);
    setProblems(wrong);
    if (Object.keys(wrong).length === 0) found.try({ draft, guard: String(form.get('guard') ?? '') });
  };
  return (
    <Outside title={t('signin.first_title')} lead={t('signin.first_lead')}>
      <form noValidate className="grid gap-4" onSubmit={submit}>
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label={t('signin.company')}
            name="org"
            autoComplete="organization"
            autoFocus
            placeholder={t('signin.company_example')}
            problem={problems.org}
          />
          <TextField
            label={t('signin.team')}
            name="team"
            autoComplete="off"
            placeholder={t('signin.team_example')}
            problem={problems.team}
          />
        </div>
        <TextField
          label={t('signin.username')}
          name="username"
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          hint={t('signin.username_hint')}
          problem={problems.username}
        />
        <PasswordField
          label={t('signin.password')}
          name="password"
          autoComplete="new-password"
          hint={t('signin.password_hint')}
          problem={problems.password}
        />
        {guarded && (
          <TextField label={t('signin.guard')} name="guard" autoComplete="off" hint={t('signin.guard_hint')} className="font-mono" />
        )}
        <Problem error={found.error} />
        <Button type="submit" kind="primary" size="large" busy={found.busy} className="mt-1 w-full">{t('signin.create')}</Button>
        <p className="text-sm text-muted">{t('signin.first_promise')}</p>
      </form>
    </Outside>
  );
}

function useFound() {
  const { locale } = useLanguage();
  const signIn = useSignIn();
  const navigate = useNavigate();
  return useAttempt(
    ({ draft, guard }: { draft: Draft; guard: string }) =>
      value(api.POST('/api/bootstrap', { body: draft, ...(guard ? { headers: { authorization: `Bearer ${guard}` } } : {}) })),
    async () => {
      window.atrium.facts.needs_bootstrap = false;
      signIn();
      await api.POST('/api/profile', { body: { locale } }).catch(() => undefined);
      await navigate({ to: '/', replace: true });
    },
    (error) => {
      if (!isRefusal(error, 'instance.bootstrapped')) return;
      window.atrium.facts.needs_bootstrap = false;
      void navigate({ to: '/sign-in', replace: true });
    },
  );
}

function problemsOf(draft: Draft, t: ReturnType<typeof useLanguage>['t']): Partial<Record<keyof Draft, string>> {
  const wrong: Partial<Record<keyof Draft, string>> = {};
  for (const name of ['org', 'team'] as const) if (!draft[name].trim()) wrong[name] = t('ui.needed');
  if (!/^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/.test(draft.username)) wrong.username = t('signin.username_hint');
  if (isTooShort(draft.password)) wrong.password = t('signin.password_hint');
  return wrong;
}
