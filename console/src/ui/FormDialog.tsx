/** A dialog that asks for something: fields, what was wrong with them, Cancel and the one action. */
import type { FormEvent, ReactNode } from 'react';
import { useLanguage } from '@/i18n/language';
import { Button } from './Button';
import { Dialog, DialogActions } from './Overlay';
import { Problem } from './Problem';

interface Props {
  title: string;
  description?: string;
  action: string;
  busy?: boolean;
  disabled?: boolean;
  /** Shown above the actions, unless a field shows it already. */
  error?: Error | null;
  onClose: () => void;
  onSubmit: (form: FormData) => void;
  children: ReactNode;
}

/** What a form of its own needs from the page that sends its draft and shows the answer. */
export interface FormOf<Draft> {
  busy: boolean;
  error: Error | null;
  onClose: () => void;
  onSubmit: (draft: Draft) => void;
}

export function FormDialog({ title, description, action, busy = false, disabled = false, error, onClose, onSubmit, children }: Props) {
  const { t } = useLanguage();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onSubmit(new FormData(event.currentTarget));
  };
  return (
    <Dialog open onClose={onClose} title={title} {...(description ? { description } : {})}>
      <form noValidate className="grid gap-4" onSubmit={submit}>
        {children}
        <Problem error={error ?? null} />
        <DialogActions>
          <Button onClick={onClose}>{t('ui.cancel')}</Button>
          <Button type="submit" kind="primary" busy={busy} disabled={disabled}>{action}</Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
