import { Suspense, useEffect, useState, type ComponentType } from 'react';
import { toast } from '@/ui/toast';
import { useLanguage } from '@/i18n/language';
import { Boundary, lazily, type Load } from './lazily';

/** A dialog: without its code it closes again and says why. */
export function lazyDialog<Props extends { onClose: () => void }>(
  load: Load<Props>,
): ComponentType<Props> & { preload: () => Promise<void> } {
  const Lazy = lazily(load);
  function LazyDialog(props: Props) {
    // Opened once more is tried once more.
    useState(Lazy.forget);
    return <Boundary instead={() => <Closing onClose={props.onClose} />}><Suspense><Lazy {...props} /></Suspense></Boundary>;
  }
  return Object.assign(LazyDialog, { preload: Lazy.preload });
}

function Closing({ onClose }: { onClose: () => void }) {
  const { t } = useLanguage();
  useEffect(() => {
    toast(t('app.part_unloaded'));
    onClose();
    // Once: the dialog is gone afterwards.
    // eslint-disable-next-line hooks/exhaustive-deps
  }, []);
  return null;
}
