import { lazy, Suspense, useState } from 'react';
import type { Schemas } from '@/api/client';
import { useLanguage } from '@/app/language';
import { Button } from '@/ui/Button';
import { Dialog, DialogActions } from '@/ui/Overlay';
import { CopyButton } from '@/ui/Secret';
import { RecoveryCodes } from './RecoveryCodes';

const Qr = lazy(() => import('@/ui/Qr'));

/** Two-factor is on already when this shows, so it stays until both the seed and the codes are somewhere safe. */
export function Enrolled({ enrolment, onClose }: { enrolment: Schemas['Enrolment']; onClose: () => void }) {
  const { t } = useLanguage();
  const [step, setStep] = useState<'scan' | 'codes'>('scan');
  if (step === 'codes') {
    return (
      <Dialog open onClose={onClose} dismissable={false} title={t('account.codes_title')} description={t('account.codes_lead')}>
        <RecoveryCodes codes={enrolment.recovery_codes} />
        <DialogActions><Button onClick={() => setStep('scan')}>{t('ui.back')}</Button><Button kind="primary" onClick={onClose}>{t('account.codes_kept')}</Button></DialogActions>
      </Dialog>
    );
  }
  return (
    <Dialog open onClose={onClose} dismissable={false} title={t('account.scan_title')} description={t('account.scan_lead')}>
      <div className="grid justify-items-center gap-4 sm:grid-cols-[auto_minmax(0,1fr)] sm:items-center sm:gap-6">
        <Suspense fallback={<div className="size-44" />}><Qr text={enrolment.otpauth_uri} label={t('account.qr')} /></Suspense>
        <div className="w-full">
          <p className="mb-1.5 text-sm text-muted">{t('account.scan_by_hand')}</p>
          <code data-raw data-testid="totp-secret" className="block rounded-lg bg-raised p-3 font-mono text-sm break-all select-all">{enrolment.secret}</code>
          <div className="mt-2"><CopyButton text={enrolment.secret} /></div>
        </div>
      </div>
      <DialogActions><Button kind="primary" onClick={() => setStep('codes')}>{t('account.scanned')}</Button></DialogActions>
    </Dialog>
  );
}
