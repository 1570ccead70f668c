/** A screen: its name, what it is for, what can be done, and how a program does the same. */
import { Terminal } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { IconButton } from '@/ui/Overlay';
import { useLanguage } from '@/i18n/language';
import { lazyExtra } from './lazily';
import { lazyDialog } from './lazy-dialog';
import { Tabs } from './Tabs';
import { useTitle } from './title';

const CurlDialog = lazyDialog(() => import('./CurlDialog'));
export const PinButton = lazyExtra(() => import('./PinButton'));

interface Props {
  title: string;
  /** The title is somebody's own words. */
  raw?: boolean;
  description?: string;
  actions?: ReactNode;
  /** Text columns read best narrow, tables wide. */
  width?: 'narrow' | 'wide';
  children: ReactNode;
}

export function Page({ title, raw = false, description, actions, width = 'wide', children }: Props) {
  useTitle(title);
  return (
    <div className={`mx-auto w-full px-4 pt-6 pb-12 sm:px-6 lg:px-8 lg:pt-8 ${width === 'narrow' ? 'max-w-3xl' : 'max-w-6xl'}`}>
      <div className="mb-6 flex flex-wrap items-start gap-x-4 gap-y-3">
        <div className="min-w-0 flex-1 basis-64">
          <h1 data-raw={raw || undefined} className="text-2xl font-semibold break-words">{title}</h1>
          {description && <p className="mt-1 max-w-2xl text-muted">{description}</p>}
        </div>
        <div className="flex flex-wrap items-center gap-2 max-sm:flex-row-reverse max-sm:justify-end">
          <PinButton title={title} raw={raw} />
          <CurlButton />
          {actions}
        </div>
      </div>
      <Tabs />
      {children}
    </div>
  );
}

export function CurlButton() {
  const { t } = useLanguage();
  const [open, setOpen] = useState(false);
  return (
    <>
      <IconButton label={t('app.curl_open')} onClick={() => setOpen(true)}><Terminal size={16} aria-hidden /></IconButton>
      {open && <CurlDialog onClose={() => setOpen(false)} />}
    </>
  );
}
