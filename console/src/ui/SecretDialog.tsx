/** A dialog for what is shown once: only its button closes it. */
import { TriangleAlert } from 'lucide-react';
import type { AriaRole, ReactNode } from 'react';
import { Button } from './Button';
import { Dialog, DialogActions } from './Overlay';

interface Props {
  title: string;
  description: string;
  warning: string;
  action: string;
  wide?: boolean;
  onClose: () => void;
  children: ReactNode;
}

export function SecretDialog({ title, description, warning, action, wide = false, onClose, children }: Props) {
  return (
    <Dialog open wide={wide} dismissable={false} title={title} description={description} onClose={onClose}>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
        {children}
        <Warning>{warning}</Warning>
      </div>
      <DialogActions><Button kind="primary" onClick={onClose}>{action}</Button></DialogActions>
    </Dialog>
  );
}

export function Warning({ role, children }: { role?: AriaRole; children: ReactNode }) {
  return (
    <p role={role} className="flex items-start gap-2 rounded-lg bg-warning-soft px-3 py-2.5 text-sm text-warning">
      <TriangleAlert size={16} className="mt-0.5 shrink-0" aria-hidden />
      {children}
    </p>
  );
}
