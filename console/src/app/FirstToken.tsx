/** Somebody new: their first token, shown once, as a link they can open. */
import { TriangleAlert } from 'lucide-react';
import { Button } from '@/ui/Button';
import { Dialog, DialogActions } from '@/ui/Overlay';
import { Secret } from '@/ui/Secret';
import { useLanguage } from './language';

export function FirstToken({ name, token, title, onClose }: { name: string; token: string; title?: string; onClose: () => void }) {
  const { t } = useLanguage();
  const link = `${location.origin}/#/join?token=${encodeURIComponent(token)}`;
  return (
    <Dialog open onClose={onClose} dismissable={false} title={title ?? t('members.added_title', { name })} description={t('members.added_lead')}>
      <div className="grid gap-4">
        <Secret label={t('members.link')} text={link} />
        <Secret label={t('members.first_token')} text={token} />
        <p className="flex items-start gap-2 rounded-lg bg-warning-soft px-3 py-2.5 text-sm text-warning"><TriangleAlert size={16} className="mt-0.5 shrink-0" aria-hidden />{t('members.once')}</p>
      </div>
      <DialogActions><Button kind="primary" onClick={onClose}>{t('members.passed_on')}</Button></DialogActions>
    </Dialog>
  );
}
