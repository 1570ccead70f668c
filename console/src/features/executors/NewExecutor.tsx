import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { TriangleAlert } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import { api, value } from '@/api/client';
import { useLanguage } from '@/app/language';
import { useMay } from '@/app/session';
import { Button } from '@/ui/Button';
import { SelectField, TextField } from '@/ui/Field';
import { Dialog, DialogActions } from '@/ui/Overlay';
import { Problem } from '@/ui/Problem';
import { CopyButton, Secret } from '@/ui/Secret';
import { toast } from '@/ui/toast';
import { commandFor, SAMPLE_KIND } from './command';
import type { Draft, NewExecutor as Made } from './queries';

type Mode = Draft['mode'];
type Reach = 'company' | 'everybody';
interface Asked {
  draft: Draft;
  reach: Reach;
}

export default function NewExecutor() {
  const { t } = useLanguage();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const close = () => void navigate({ to: '/executors' });
  const create = useMutation({
    mutationFn: ({ draft, reach }: Asked): Promise<Made> => value(reach === 'everybody' ? api.POST('/api/executors', { body: draft }) : api.POST('/api/org/executors', { body: draft })),
    onSuccess: (made) => {
      void queries.invalidateQueries({ queryKey: ['executors'] });
      if (made.worker_token !== null) return;
      toast(t('executors.created', { name: made.name }));
      close();
    },
  });
  const made = create.data;
  if (made?.worker_token) return <Issued made={made} token={made.worker_token} onClose={close} />;
  return (
    <Dialog open onClose={close} title={t('executors.new')} description={t('executors.new_lead')}>
      <ExecutorForm busy={create.isPending} error={create.error} onCancel={close} onExecutor={create.mutate} />
    </Dialog>
  );
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$/;

function ExecutorForm({ busy, error, onCancel, onExecutor }: { busy: boolean; error: Error | null; onCancel: () => void; onExecutor: (asked: Asked) => void }) {
  const { t } = useLanguage();
  const [mode, setMode] = useState<Mode>('pull');
  const [problem, setProblem] = useState<'name' | 'url' | null>(null);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const asked = askedIn(form, mode);
    const wrong = !NAME.test(asked.draft.name) ? 'name' : mode === 'push' && !asked.draft.url ? 'url' : null;
    setProblem(wrong);
    if (!wrong) onExecutor(asked);
  };
  return (
    <form noValidate className="grid gap-4" onSubmit={submit}>
      <TextField label={t('executors.name')} name="name" autoComplete="off" autoFocus maxLength={64} hint={t('executors.name_hint')} problem={problem === 'name' ? t('executors.name_problem') : undefined} />
      <ModeField mode={mode} onChange={setMode} />
      {mode === 'push' && <TextField label={t('executors.url')} name="url" type="url" inputMode="url" autoComplete="off" hint={t('executors.url_hint')} problem={problem === 'url' ? t('ui.needed') : undefined} />}
      {mode === 'push' && <TextField label={t('executors.key')} name="key" type="password" autoComplete="off" optional={t('ui.optional')} hint={t('executors.key_hint')} />}
      <TextField label={t('executors.model')} name="model" autoComplete="off" maxLength={200} optional={t('ui.optional')} hint={t('executors.model_hint')} />
      <TextField label={t('executors.kinds')} name="kinds" autoComplete="off" optional={t('ui.optional')} hint={t('executors.kinds_hint', { kind: SAMPLE_KIND })} />
      <ReachField />
      <Problem error={error} />
      <DialogActions><Button onClick={onCancel}>{t('ui.cancel')}</Button><Button type="submit" kind="primary" busy={busy}>{t('executors.create')}</Button></DialogActions>
    </form>
  );
}

function askedIn(form: FormData, mode: Mode): Asked {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const pushed = mode === 'push' ? { url: text('url'), ...(text('key') && { key: text('key') }) } : {};
  return {
    draft: { name: text('name'), mode, model: text('model') || null, capabilities: text('kinds').split(/[\s,]+/).filter(Boolean), ...pushed },
    reach: text('reach') as Reach,
  };
}

function ModeField({ mode, onChange }: { mode: Mode; onChange: (mode: Mode) => void }) {
  const { t } = useLanguage();
  return (
    <fieldset>
      <legend className="mb-1.5 text-sm font-medium">{t('executors.mode')}</legend>
      <div className="grid gap-2">
        {(['pull', 'push'] as const).map((one) => (
          <label key={one} className="flex items-start gap-2.5 rounded-lg border border-line p-3 has-checked:border-accent has-checked:bg-accent-soft">
            <input type="radio" name="mode" className="mt-0.5 size-4 accent-(--accent)" checked={mode === one} onChange={() => onChange(one)} />
            <span><span className="block font-medium">{t(`executors.mode_${one}`)}</span><span className="block text-sm text-muted">{t(`executors.mode_${one}_more`)}</span></span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** For whom it works, as far as this person decides about it. */
function ReachField() {
  const { t } = useLanguage();
  const may = useMay();
  const reaches = ([['company', 'org:manage'], ['everybody', 'instance:manage']] as const).filter(([, permission]) => may(permission));
  return <SelectField label={t('executors.reach')} name="reach">{reaches.map(([reach]) => <option key={reach} value={reach}>{t(`executors.reach_${reach}`)}</option>)}</SelectField>;
}

function Issued({ made, token, onClose }: { made: Made; token: string; onClose: () => void }) {
  const { t } = useLanguage();
  const command = commandFor({ url: location.origin, token, kinds: made.capabilities, model: made.model });
  return (
    <Dialog open wide onClose={onClose} dismissable={false} title={t('executors.issued_title', { name: made.name })} description={t('executors.issued_lead')}>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
        <Secret label={t('executors.token')} text={token} />
        <section aria-label={t('executors.command')}>
          <div className="mb-2 flex items-center justify-between gap-3"><h3 className="text-sm font-medium">{t('executors.command')}</h3><CopyButton text={command} /></div>
          <pre data-raw data-testid="command" tabIndex={0} className="overflow-x-auto rounded-lg bg-raised p-4 font-mono text-sm">{command}</pre>
        </section>
        <p className="flex items-start gap-2 rounded-lg bg-warning-soft px-3 py-2.5 text-sm text-warning"><TriangleAlert size={16} className="mt-0.5 shrink-0" aria-hidden />{t('executors.once')}</p>
      </div>
      <DialogActions><Button kind="primary" onClick={onClose}>{t('executors.kept')}</Button></DialogActions>
    </Dialog>
  );
}
