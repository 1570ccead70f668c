import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useRouterState } from '@tanstack/react-router';
import { useState } from 'react';
import { api, value } from '@/api/client';
import { useLanguage } from '@/i18n/language';
import { useOwnPassword } from '@/app/own-password';
import { OPERATOR, useMay } from '@/app/session';
import { SelectField, TextField } from '@/ui/Field';
import { FormDialog, type FormOf } from '@/ui/FormDialog';
import { CopyButton, Secret } from '@/ui/Secret';
import { SecretDialog } from '@/ui/SecretDialog';
import { toast } from '@/ui/toast';
import { commandFor, SAMPLE_KIND } from './command';
import { listOf, type Draft, type NewExecutor as Made } from './queries';

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
  const path = useRouterState({ select: (state) => state.location.pathname });
  const close = () => void navigate({ to: listOf(path) });
  const create = useMutation({
    mutationFn: ({ draft, reach }: Asked): Promise<Made> =>
      value(reach === 'everybody' ? api.POST('/api/executors', { body: draft }) : api.POST('/api/org/executors', { body: draft })),
    onSuccess: (made) => {
      void queries.invalidateQueries({ queryKey: ['executors'] });
      if (made.worker_token !== null) return;
      toast(t('executors.created', { name: made.name }));
      close();
    },
  });
  const made = create.data;
  if (made?.worker_token) return <Issued made={made} token={made.worker_token} onClose={close} />;
  return <ExecutorForm busy={create.isPending} error={create.error} onClose={close} onSubmit={create.mutate} />;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$/;

function ExecutorForm({ busy, error, onClose, onSubmit }: FormOf<Asked>) {
  const { t } = useLanguage();
  const [mode, setMode] = useState<Mode>('pull');
  const [problem, setProblem] = useState<'name' | 'url' | null>(null);
  const own = useOwnPassword(error);
  const submit = (form: FormData) => {
    const asked = askedIn(form, mode);
    const wrong = !NAME.test(asked.draft.name) ? 'name' : mode === 'push' && !asked.draft.url ? 'url' : null;
    const password = own.read(form);
    setProblem(wrong);
    if (!wrong && password) onSubmit({ ...asked, draft: { ...asked.draft, password } });
  };
  return (
    <FormDialog
      title={t('nav.new_executor')}
      description={t('executors.new_lead')}
      action={t('executors.create')}
      busy={busy}
      error={own.refused ? null : error}
      onClose={onClose}
      onSubmit={submit}
    >
      <TextField
        label={t('executors.name')}
        name="name"
        autoComplete="off"
        autoFocus
        maxLength={64}
        hint={t('executors.name_hint')}
        problem={problem === 'name' ? t('executors.name_problem') : undefined}
      />
      <ModeField mode={mode} onChange={setMode} />
      {mode === 'push' && (
        <TextField
          label={t('executors.url')}
          name="url"
          type="url"
          inputMode="url"
          autoComplete="off"
          hint={t('executors.url_hint')}
          problem={problem === 'url' ? t('ui.needed') : undefined}
        />
      )}
      {mode === 'push' && (
        <TextField
          label={t('executors.key')}
          name="key"
          type="password"
          autoComplete="off"
          optional={t('ui.optional')}
          hint={t('executors.key_hint')}
        />
      )}
      <TextField
        label={t('executors.model')}
        name="model"
        autoComplete="off"
        maxLength={200}
        optional={t('ui.optional')}
        hint={t('executors.model_hint')}
      />
      <TextField
        label={t('executors.kinds')}
        name="kinds"
        autoComplete="off"
        optional={t('ui.optional')}
        hint={t('executors.kinds_hint', { kind: SAMPLE_KIND })}
      />
      <ReachField />
      {own.field}
    </FormDialog>
  );
}

function askedIn(form: FormData, mode: Mode): Asked {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const pushed = mode === 'push' ? { url: text('url'), ...(text('key') && { key: text('key') }) } : {};
  return {
    draft: {
      name: text('name'),
      mode,
      model: text('model') || null,
      capabilities: text('kinds')
        .split(/[\s,]+/)
        .filter(Boolean),
      ...pushed,
    },
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
          <label
            key={one}
            className="flex items-start gap-2.5 rounded-lg border border-line p-3 has-checked:border-accent has-checked:bg-accent-soft"
          >
            <input
              type="radio"
              name="mode"
              className="mt-0.5 size-4 accent-(--accent)"
              checked={mode === one}
              onChange={() => onChange(one)}
            />
            <span>
              <span className="block font-medium">{t(`executors.mode_${one}`)}</span>
              <span className="block text-sm text-muted">{t(`executors.mode_${one}_more`)}</span>
            </span>
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
  const reaches = (
    [
      ['company', 'org:manage'],
      ['everybody', OPERATOR],
    ] as const
  ).filter(([, permission]) => may(permission));
  return (
    <SelectField label={t('executors.reach')} name="reach">
      {reaches.map(([reach]) => <option key={reach} value={reach}>{t(`executors.reach_${reach}`)}</option>)}
    </SelectField>
  );
}

function Issued({ made, token, onClose }: { made: Made; token: string; onClose: () => void }) {
  const { t } = useLanguage();
  const command = commandFor({ url: location.origin, token, kinds: made.capabilities, model: made.model });
  return (
    <SecretDialog
      wide
      title={t('executors.issued_title', { name: made.name })}
      description={t('executors.issued_lead')}
      warning={t('executors.once')}
      action={t('executors.kept')}
      onClose={onClose}
    >
      <Secret label={t('executors.token')} text={token} />
      <section aria-label={t('executors.command')}>
        <div className="mb-2 flex items-center justify-between gap-3">
          <h3 className="text-sm font-medium">{t('executors.command')}</h3>
          <CopyButton text={command} />
        </div>
        <pre data-raw data-testid="command" tabIndex={0} className="overflow-x-auto rounded-lg bg-raised p-4 font-mono text-sm">
          {command}
        </pre>
      </section>
    </SecretDialog>
  );
}
