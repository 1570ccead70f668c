import { ArrowLeft } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import { useLanguage } from '@/i18n/language';
import { Button } from '@/ui/Button';
import { TextField } from '@/ui/Field';
import { Problem } from '@/ui/Problem';
import { Outside } from './Outside';

export default function CodeStep({
  busy,
  problem,
  onCode,
  onBack,
}: {
  busy: boolean;
  problem: Error | null;
  onCode: (code: string) => void;
  onBack: () => void;
}) {
  const { t } = useLanguage();
  const [recovery, setRecovery] = useState(false);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const code = String(new FormData(event.currentTarget).get('code')).trim();
    if (code) onCode(recovery ? code : code.replaceAll(' ', ''));
  };
  return (
    <Outside title={t('signin.code_title')} lead={t(recovery ? 'signin.recovery_lead' : 'signin.code_lead')}>
      <form noValidate key={String(recovery)} className="grid gap-4" onSubmit={submit}>
        {recovery ? (
          <TextField
            label={t('signin.recovery_code')}
            name="code"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            autoFocus
            className="font-mono"
          />
        ) : (
          <TextField
            label={t('signin.code')}
            name="code"
            autoComplete="one-time-code"
            inputMode="numeric"
            maxLength={7}
            autoFocus
            className="font-mono text-lg tracking-[.3em]"
          />
        )}
        <Problem error={problem} />
        <Button type="submit" kind="primary" size="large" busy={busy} className="mt-1 w-full">{t('signin.verify')}</Button>
        <div className="flex flex-wrap items-center justify-between gap-2">
          <Button kind="ghost" size="small" onClick={onBack} className="-ms-2">
            <ArrowLeft size={14} aria-hidden className="rtl:rotate-180" />
            {t('ui.back')}
          </Button>
          <Button kind="ghost" size="small" onClick={() => setRecovery(!recovery)} className="-me-2 text-link">
            {t(recovery ? 'signin.use_code' : 'signin.use_recovery')}
          </Button>
        </div>
      </form>
    </Outside>
  );
}
