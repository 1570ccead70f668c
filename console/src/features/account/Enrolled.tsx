import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { api, type Schemas } from '@/api/client';
import { useLanguage } from '@/i18n/language';
import { lazyPart } from '@/app/lazily';
import { Button } from '@/ui/Button';
import { TextField } from '@/ui/Field';
import { Dialog, DialogActions } from '@/ui/Overlay';
import { Problem } from '@/ui/Problem';
import { CopyButton } from '@/ui/Secret';
import { RecoveryCodes } from './RecoveryCodes';
import { isCode } from './totp';

const Qr = lazyPart(() => import('@/ui/Qr'), <div className="size-44" />);

export interface Fresh {
  enrolment: Schemas['Enrolment'];
  /** Whoever turned it on a moment ago may turn it off again. */
  password: string;
  /** How far this computer's clock is behind the server's. */
  behind: number;
}

interface Props {
  fresh: Fresh;
  onClose: () => void;
  onTurnedOff: () => void;
}

/** Two-factor is on already when this shows, so it stays until the app has shown a right code and the recovery codes are somewhere safe. */
export function Enrolled({ fresh, onClose, onTurnedOff }: Props) {
  const { t } = useLanguage();
  const [proven, setProven] = useState(false);
  if (!proven) return <Scan fresh={fresh} onProven={() => setProven(true)} onTurnedOff={onTurnedOff} />;
  return (
    <Dialog open onClose={onClose} dismissable={false} title={t('account.codes_title')} description={t('account.codes_lead')}>
      <RecoveryCodes codes={fresh.enrolment.recovery_codes} />
      <DialogActions>
        <Button onClick={() => setProven(false)}>{t('ui.back')}</Button>
        <Button kind="primary" onClick={onClose}>{t('account.codes_kept')}</Button>
      </DialogActions>
    </Dialog>
  );
}

function Scan({
  fresh: { enrolment, password, behind },
  onProven,
  onTurnedOff,
}: {
  fresh: Fresh;
  onProven: () => void;
  onTurnedOff: () => void;
}) {
  const { t } = useLanguage();
  const [wrong, setWrong] = useState(false);
  const off = useMutation({ mutationFn: () => api.DELETE('/api/2fa', { body: { password } }), onSuccess: onTurnedOff });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const right = isCode(enrolment.secret, String(new FormData(event.currentTarget).get('code')), Date.now() + behind);
    setWrong(!right);
    if (right) onProven();
  };
  return (
    <Dialog open onClose={onTurnedOff} dismissable={false} title={t('account.scan_title')} description={t('account.scan_lead')}>
      <form noValidate onSubmit={submit} className="grid gap-5">
        <div className="grid justify-items-center gap-4 sm:grid-cols-[auto_minmax(0,1fr)] sm:items-center sm:gap-6">
          <Qr text={enrolment.otpauth_uri} label={t('account.qr')} />
          <div className="w-full">
            <p className="mb-1.5 text-sm text-muted">{t('account.scan_by_hand')}</p>
            <code data-raw data-testid="totp-secret" className="block rounded-lg bg-raised p-3 font-mono text-sm break-all select-all">
              {enrolment.secret}
            </code>
            <div className="mt-2"><CopyButton text={enrolment.secret} /></div>
          </div>
        </div>
        <TextField
          label={t('account.first_code')}
          name="code"
          autoComplete="one-time-code"
          inputMode="numeric"
          maxLength={7}
          autoFocus
          className="font-mono text-lg tracking-[.3em]"
          hint={t('account.first_code_hint')}
          problem={wrong ? t('account.first_code_wrong') : undefined}
        />
        <Problem error={off.error} />
        <DialogActions>
          <Button kind="ghost" busy={off.isPending} onClick={() => off.mutate()}>{t('account.turn_off_again')}</Button>
          <Button type="submit" kind="primary">{t('ui.continue')}</Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
