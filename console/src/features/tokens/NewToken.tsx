import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, value, type Schemas } from '@/api/client';
import { useLanguage } from '@/i18n/language';
import { useOwnPassword } from '@/app/own-password';
import { useIdentity } from '@/app/session';
import { Confirm } from '@/ui/Confirm';
import { SelectField, TextField } from '@/ui/Field';
import { FormDialog, type FormOf } from '@/ui/FormDialog';
import { Secret } from '@/ui/Secret';
import { SecretDialog, Warning } from '@/ui/SecretDialog';

const DAY = 86_400;
const LIVES = { month: 30 * DAY, quarter: 90 * DAY, year: 365 * DAY, never: 'never' } as const;
type Life = keyof typeof LIVES;
/** Gives roles in the company, which outlive the token. */
const MANAGES = 'org:manage';

/** What a program needs at least: it looks, and changes nothing. */
const readingOf = (permissions: string[]) => permissions.filter((one) => one.endsWith(':read'));

/** What a new token may hold: what its owner holds, without what serves only features that the team has turned off. */
function useGivable(): string[] {
  const { permissions, idle_permissions: idle } = useIdentity();
  return permissions.filter((one) => !idle.includes(one));
}

export default function NewToken() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const close = () => void navigate({ to: '/settings/tokens' });
  const issue = useMutation({
    mutationFn: (body: Schemas['NewToken']) => value(api.POST('/api/tokens', { body })),
    onSuccess: () => {
      localStorage.setItem('atrium.token_made', '1');
      void queries.invalidateQueries({ queryKey: ['tokens'] });
    },
  });
  if (issue.data) return <Issued token={issue.data} onClose={close} />;
  return <TokenForm busy={issue.isPending} error={issue.error} onClose={close} onSubmit={issue.mutate} />;
}

function TokenForm({ busy, error, onClose, onSubmit }: FormOf<Schemas['NewToken']>) {
  const { t } = useLanguage();
  const [life, setLife] = useState<Life>('quarter');
  const permissions = useGivable();
  const [scope, setScope] = useState<string[] | null>(readingOf(permissions));
  const [problem, setProblem] = useState<'name' | 'scope' | null>(null);
  const [asked, setAsked] = useState<Schemas['NewToken'] | null>(null);
  const own = useOwnPassword(error);
  const submit = (form: FormData) => {
    const name = String(form.get('name')).trim();
    const password = own.read(form);
    const wrong = !name ? 'name' : scope?.length === 0 ? 'scope' : null;
    setProblem(wrong);
    if (wrong || !password) return;
    const wanted = { name, scope, ttl: LIVES[life], password };
    if ((scope ?? permissions).includes(MANAGES)) setAsked(wanted);
    else onSubmit(wanted);
  };
  return (
    <FormDialog
      title={t('tokens.new_title')}
      description={t('tokens.new_lead')}
      action={t('tokens.create')}
      busy={busy}
      error={own.refused ? null : error}
      onClose={onClose}
      onSubmit={submit}
    >
      {asked && (
        <Confirm
          title={t('tokens.manages_title')}
          body={t('tokens.manages_body')}
          action={t('tokens.create')}
          busy={false}
          error={null}
          onConfirm={() => {
            setAsked(null);
            onSubmit(asked);
          }}
          onClose={() => setAsked(null)}
        />
      )}
      <TextField
        label={t('tokens.name')}
        name="name"
        autoComplete="off"
        autoFocus
        maxLength={200}
        hint={t('tokens.name_hint')}
        problem={problem === 'name' ? t('ui.needed') : undefined}
      />
      <SelectField label={t('tokens.life')} value={life} onChange={(event) => setLife(event.target.value as Life)}>
        {(Object.keys(LIVES) as Life[]).map((one) => <option key={one} value={one}>{t(`tokens.life_${one}`)}</option>)}
      </SelectField>
      {life === 'never' && <Warning role="status">{t('tokens.never_warning')}</Warning>}
      <ScopeField scope={scope} onChange={setScope} problem={problem === 'scope' ? t('tokens.scope_needed') : undefined} />
      {own.field}
    </FormDialog>
  );
}

function ScopeField({
  scope,
  onChange,
  problem,
}: {
  scope: string[] | null;
  onChange: (scope: string[] | null) => void;
  problem: string | undefined;
}) {
  const { t } = useLanguage();
  const permissions = useGivable();
  const toggle = (permission: string) =>
    scope && onChange(scope.includes(permission) ? scope.filter((one) => one !== permission) : [...scope, permission]);
  return (
    <fieldset>
      <legend className="mb-1.5 text-sm font-medium">{t('tokens.scope')}</legend>
      <div className="grid gap-2">
        {(
          [
            [readingOf(permissions), 'some'],
            [null, 'all'],
          ] as const
        ).map(([start, name]) => (
          <label
            key={name}
            className="flex items-start gap-2.5 rounded-lg border border-line p-3 has-checked:border-accent has-checked:bg-accent-soft"
          >
            <input
              type="radio"
              name="reach"
              className="mt-0.5 size-4 accent-(--accent)"
              checked={(scope === null) === (start === null)}
              onChange={() => onChange(start)}
            />
            <span>
              <span className="block font-medium">{t(`tokens.scope_${name}`)}</span>
              <span className="block text-sm text-muted">{t(`tokens.scope_${name}_more`)}</span>
            </span>
          </label>
        ))}
      </div>
      {scope && (
        <ul className="mt-3 grid max-h-52 gap-x-4 overflow-y-auto rounded-lg border border-line p-3 sm:grid-cols-2">
          {permissions.map((permission) => (
            <li key={permission}>
              <label className="flex h-7 items-center gap-2">
                <input
                  type="checkbox"
                  className="size-4 accent-(--accent)"
                  checked={scope.includes(permission)}
                  onChange={() => toggle(permission)}
                />
                <code data-raw className="font-mono text-xs">{permission}</code>
              </label>
            </li>
          ))}
        </ul>
      )}
      {problem && <p role="alert" className="mt-1.5 text-sm text-danger">{problem}</p>}
    </fieldset>
  );
}

function Issued({ token, onClose }: { token: Schemas['IssuedToken']; onClose: () => void }) {
  const { t } = useLanguage();
  return (
    <SecretDialog
      title={t('tokens.issued_title', { name: token.name })}
      description={t('tokens.issued_lead')}
      warning={t('tokens.once')}
      action={t('tokens.kept')}
      onClose={onClose}
    >
      <Secret label={t('tokens.secret')} text={token.token} />
      <Secret label={t('tokens.try')} text={`curl -H "Authorization: Bearer ${token.token}" ${location.origin}/api/whoami`} />
    </SecretDialog>
  );
}
