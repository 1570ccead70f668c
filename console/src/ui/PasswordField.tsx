import { Eye, EyeOff } from 'lucide-react';
import { useState, type InputHTMLAttributes } from 'react';
import { useLanguage } from '@/i18n/language';
import { Field } from './Field';

interface Props extends InputHTMLAttributes<HTMLInputElement> {
  label: string;
  hint?: string | undefined;
  problem?: string | undefined;
}

/** A password that can be looked at while it is typed. */
export function PasswordField({ label, hint, problem, ...rest }: Props) {
  const { t } = useLanguage();
  const [shown, setShown] = useState(false);
  const Icon = shown ? EyeOff : Eye;
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(wiring) => (
        <div className="relative">
          <input {...rest} {...wiring} type={shown ? 'text' : 'password'} className="field pe-10" />
          <button
            type="button"
            onClick={() => setShown(!shown)}
            aria-pressed={shown}
            aria-label={t('ui.show_password')}
            className="absolute end-1 top-1 grid size-7 place-items-center rounded-md text-muted hover:bg-raised hover:text-text"
          >
            <Icon size={16} aria-hidden />
          </button>
        </div>
      )}
    </Field>
  );
}
