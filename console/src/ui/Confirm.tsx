import { useLanguage } from '@/i18n/language';
import { Button } from './Button';
import { Dialog, DialogActions } from './Overlay';
import { Problem } from './Problem';

interface Props {
  title: string;
  body: string;
  action: string;
  busy: boolean;
  error: Error | null;
  onConfirm: () => void;
  onClose: () => void;
}

/** Asks before something that cannot be undone. */
export function Confirm({ title, body, action, busy, error, onConfirm, onClose }: Props) {
  const { t } = useLanguage();
  return (
    <Dialog open onClose={onClose} title={title} description={body}>
      <Problem error={error} />
      <DialogActions>
        <Button onClick={onClose}>{t('ui.cancel')}</Button>
        <Button kind="danger" busy={busy} onClick={onConfirm}>{action}</Button>
      </DialogActions>
    </Dialog>
  );
}
