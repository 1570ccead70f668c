import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ShieldCheck, ShieldOff } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import { api, value } from '@/api/client';
import { identityQuery } from '@/api/queries';
import { useLanguage } from '@/i18n/language';
import { useOwnPassword } from '@/app/own-password';
import { useIdentity } from '@/app/session';
import { Badge } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { Dialog, DialogActions } from '@/ui/Overlay';
import { Problem } from '@/ui/Problem';
import { toast } from '@/ui/toast';
import { Enrolled, type Fresh } from './Enrolled';
import { Panel } from './Panel';
import { RecoveryCodes } from './RecoveryCodes';

type Step = 'enable' | 'renew' | 'disable' | null;

export function TwoFactorPanel() {
  const { t } = useLanguage();
  const { two_factor: on } = useIdentity();
  const queries = useQueryClient();
  const [step, setStep] = useState<Step>(null);
  const [fresh, setFresh] = useState<Fresh | null>(null);
  const [codes, setCodes] = useState<string[] | null>(null);
  const left = useQuery({ queryKey: ['recovery-codes'], queryFn: () => value(api.GET('/api/2fa/recovery-codes')), enabled: on });
  const settled = () => {
    setStep(null);
    void queries.invalidateQueries(identityQuery);
    void queries.invalidateQueries({ queryKey: ['recovery-codes'] });
    void queries.invalidateQueries({ queryKey: ['members'] });
  };
  return (
    <Panel title={t('account.two_factor')} body={t('account.two_factor_lead')}>
      <div className="flex flex-wrap items-center gap-3">
        {on ? (
          <Badge tone="success">
            <ShieldCheck size={12} aria-hidden />
            {t('account.two_factor_on')}
          </Badge>
        ) : (
          <Badge>
            <ShieldOff size={12} aria-hidden />
            {t('account.two_factor_off')}
          </Badge>
        )}
        {on && left.data && (
          <span className={left.data.unspent < 3 ? 'text-warning' : 'text-muted'}>{t('account.codes_left', { n: left.data.unspent })}</span>
        )}
      </div>
      <div className="mt-4 flex flex-wrap gap-2">
        {on ? (
          <>
            <Button onClick={() => setStep('renew')}>{t('account.renew_codes')}</Button>
            <Button kind="danger-ghost" onClick={() => setStep('disable')}>{t('account.turn_off')}</Button>
          </>
        ) : (
          <Button kind="primary" onClick={() => setStep('enable')}>{t('account.turn_on')}</Button>
        )}
      </div>
      {step === 'enable' && (
        <WithPassword
          title={t('account.turn_on_title')}
          body={t('account.turn_on_lead')}
          action={t('ui.continue')}
          onClose={() => setStep(null)}
          run={async (password) => {
            setFresh(await enable(password));
            setStep(null);
          }}
        />
      )}
      {step === 'renew' && (
        <WithPassword
          title={t('account.renew_codes')}
          body={t('account.renew_lead')}
          action={t('account.renew_codes')}
          onClose={() => setStep(null)}
          run={async (password) => {
            setCodes((await value(api.POST('/api/2fa/recovery-codes', { body: { password } }))).recovery_codes);
            settled();
          }}
        />
      )}
      {step === 'disable' && (
        <WithPassword
          title={t('account.turn_off_title')}
          body={t('account.turn_off_lead')}
          action={t('account.turn_off')}
          kind="danger"
          onClose={() => setStep(null)}
          run={async (password) => {
            await api.DELETE('/api/2fa', { body: { password } });
            settled();
            toast(t('account.turned_off'));
          }}
        />
      )}
      {fresh && (
        <Enrolled
          fresh={fresh}
          onClose={() => {
            setFresh(null);
            settled();
          }}
          onTurnedOff={() => {
            setFresh(null);
            settled();
            toast(t('account.turned_off'));
          }}
        />
      )}
      {codes && (
        <Dialog
          open
          onClose={() => setCodes(null)}
          dismissable={false}
          title={t('account.new_codes')}
          description={t('account.codes_lead')}
        >
          <RecoveryCodes codes={codes} />
          <DialogActions><Button kind="primary" onClick={() => setCodes(null)}>{t('account.codes_kept')}</Button></DialogActions>
        </Dialog>
      )}
    </Panel>
  );
}

/** On at once; the answer also tells what time the server has, by which codes are judged. */
async function enable(password: string): Promise<Fresh> {
  const { data, response } = await api.POST('/api/2fa/enable', { body: { password } });
  const there = Date.parse(response.headers.get('date') ?? '');
  return { enrolment: data!, password, behind: Number.isNaN(there) ? 0 : there - Date.now() };
}

/** What protects the account asks for the password first. */
function WithPassword({
  title,
  body,
  action,
  kind = 'primary',
  onClose,
  run,
}: {
  title: string;
  body: string;
  action: string;
  kind?: 'primary' | 'danger';
  onClose: () => void;
  run: (password: string) => Promise<void>;
}) {
  const { t } = useLanguage();
  const confirm = useMutation({ mutationFn: run });
  const own = useOwnPassword(confirm.error, { autoFocus: true });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const password = own.read(new FormData(event.currentTarget));
    if (password) confirm.mutate(password);
  };
  return (
    <Dialog open onClose={onClose} title={title} description={body}>
      <form noValidate onSubmit={submit} className="grid gap-4">
        {own.field}
        {!own.refused && <Problem error={confirm.error} />}
        <DialogActions>
          <Button onClick={onClose}>{t('ui.cancel')}</Button>
          <Button type="submit" kind={kind} busy={confirm.isPending}>{action}</Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
