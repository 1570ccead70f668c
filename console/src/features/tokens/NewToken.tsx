import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { TriangleAlert } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import { api, value, type Schemas } from '@/api/client';
import { useLanguage } from '@/app/language';
import { useIdentity } from '@/app/session';
import { Button } from '@/ui/Button';
import { SelectField, TextField } from '@/ui/Field';
import { Dialog, DialogActions } from '@/ui/Overlay';
import { Problem } from '@/ui/Problem';
import { Secret } from '@/ui/Secret';

const DAY = 86_400;
const LIVES = { month: 30 * DAY, quarter: 90 * DAY, year: 365 * DAY, never: 'never' } as const;
type Life = keyof typeof LIVES;

export default function NewToken() {
  const { t } = useLanguage();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const close = () => void navigate({ to: '/tokens' });
  const issue = useMutation({
    mutationFn: (body: Schemas['NewToken']) => value(api.POST('/api/tokens', { body })),
    onSuccess: () => {
      localStorage.setItem('atrium.token_made', '1');
      void queries.invalidateQueries({ queryKey: ['tokens'] });
    },
  });
  if (issue.data) return <Issued token={issue.data} onClose={close} />;
  return (
    <Dialog open onClose={close} title={t('tokens.new_title')} description={t('tokens.new_lead')}>
      <TokenForm busy={issue.isPending} error={issue.error} onCancel={close} onToken={issue.mutate} />
    </Dialog>
  );
}

function TokenForm({ busy, error, onCancel, onToken }: { busy: boolean; error: Error | null; onCancel: () => void; onToken: (token: Schemas['NewToken']) => void }) {
  const { t } = useLanguage();
  const [life, setLife] = useState<Life>('quarter');
  const [scope, setScope] = useState<string[] | null>(null);
  const [problem, setProblem] = useState<'name' | 'scope' | null>(null);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get('name')).trim();
    const wrong = !name ? 'name' : scope?.length === 0 ? 'scope' : null;
    setProblem(wrong);
    if (!wrong) onToken({ name, scope, ttl: LIVES[life] });
  };
  return (
    <form noValidate className="grid gap-4" onSubmit={submit}>
      <TextField label={t('tokens.name')} name="name" autoComplete="off" autoFocus maxLength={200} hint={t('tokens.name_hint')} problem={problem === 'name' ? t('ui.needed') : undefined} />
      <SelectField label={t('tokens.life')} value={life} onChange={(event) => setLife(event.target.value as Life)}>
        {(Object.keys(LIVES) as Life[]).map((one) => <option key={one} value={one}>{t(`tokens.life_${one}`)}</option>)}
      </SelectField>
      {life === 'never' && <p role="status" className="flex items-start gap-2 rounded-lg bg-warning-soft px-3 py-2.5 text-sm text-warning"><TriangleAlert size={16} className="mt-0.5 shrink-0" aria-hidden />{t('tokens.never_warning')}</p>}
      <ScopeField scope={scope} onChange={setScope} problem={problem === 'scope' ? t('tokens.scope_needed') : undefined} />
      <Problem error={error} />
      <DialogActions><Button onClick={onCancel}>{t('ui.cancel')}</Button><Button type="submit" kind="primary" busy={busy}>{t('tokens.create')}</Button></DialogActions>
    </form>
  );
}

function ScopeField({ scope, onChange, problem }: { scope: string[] | null; onChange: (scope: string[] | null) => void; problem: string | undefined }) {
  const { t } = useLanguage();
  const { permissions } = useIdentity();
  const toggle = (permission: string) => scope && onChange(scope.includes(permission) ? scope.filter((one) => one !== permission) : [...scope, permission]);
  return (
    <fieldset>
      <legend className="mb-1.5 text-sm font-medium">{t('tokens.scope')}</legend>
      <div className="grid gap-2">
        {([[null, 'all'], [[], 'some']] as const).map(([start, name]) => (
          <label key={name} className="flex items-start gap-2.5 rounded-lg border border-line p-3 has-checked:border-accent has-checked:bg-accent-soft">
            <input type="radio" name="reach" className="mt-0.5 size-4 accent-(--accent)" checked={(scope === null) === (start === null)} onChange={() => onChange(start ? [...start] : null)} />
            <span><span className="block font-medium">{t(`tokens.scope_${name}`)}</span><span className="block text-sm text-muted">{t(`tokens.scope_${name}_more`)}</span></span>
          </label>
        ))}
      </div>
      {scope && (
        <ul className="mt-3 grid max-h-52 gap-x-4 overflow-y-auto rounded-lg border border-line p-3 sm:grid-cols-2">
          {permissions.map((permission) => (
            <li key={permission}><label className="flex h-7 items-center gap-2"><input type="checkbox" className="size-4 accent-(--accent)" checked={scope.includes(permission)} onChange={() => toggle(permission)} /><code data-raw className="font-mono text-xs">{permission}</code></label></li>
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
    <Dialog open onClose={onClose} dismissable={false} title={t('tokens.issued_title', { name: token.name })} description={t('tokens.issued_lead')}>
      <div className="grid gap-4">
        <Secret label={t('tokens.secret')} text={token.token} />
        <Secret label={t('tokens.try')} text={`curl -H "Authorization: Bearer ${token.token}" ${location.origin}/api/whoami`} />
        <p className="flex items-start gap-2 rounded-lg bg-warning-soft px-3 py-2.5 text-sm text-warning"><TriangleAlert size={16} className="mt-0.5 shrink-0" aria-hidden />{t('tokens.once')}</p>
      </div>
      <DialogActions><Button kind="primary" onClick={onClose}>{t('tokens.kept')}</Button></DialogActions>
    </Dialog>
  );
}
