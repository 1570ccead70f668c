/** What floats: dialogs, menus, tooltips. */
import clsx from 'clsx';
import { X } from 'lucide-react';
import { Dialog as RadixDialog, DropdownMenu, Tooltip } from 'radix-ui';
import type { ButtonHTMLAttributes, ComponentProps, ReactNode } from 'react';
import { useLanguage } from '@/i18n/language';
import { useOpener } from './opener';

export { DropdownMenu as Menu, RadixDialog, Tooltip };

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  label: string;
}

export function IconButton({ label, className, children, ...rest }: IconButtonProps) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger asChild>
        <button
          type="button"
          aria-label={label}
          {...rest}
          className={clsx(
            'grid size-8 shrink-0 place-items-center rounded-md text-muted transition-colors hover:bg-raised hover:text-text',
            className,
          )}
        >
          {children}
        </button>
      </Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Content sideOffset={6} className="pop z-50 rounded-md bg-text px-2 py-1 text-xs text-bg">{label}</Tooltip.Content>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}

interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  description?: string;
  wide?: boolean;
  /** False when closing by accident would lose something shown once. */
  dismissable?: boolean;
  /** Only text inside: the keyboard scrolls it. */
  reading?: boolean;
  children: ReactNode;
}

export function Dialog({ open, onClose, title, description, wide = false, dismissable = true, reading = false, children }: DialogProps) {
  const { t } = useLanguage();
  const giveBack = useOpener();
  const stay = (event: Event) => dismissable || event.preventDefault();
  return (
    <RadixDialog.Root open={open} onOpenChange={(next) => next || onClose()}>
      <RadixDialog.Portal>
        <RadixDialog.Overlay className="scrim" />
        <RadixDialog.Content
          {...(description ? {} : { 'aria-describedby': undefined })}
          onCloseAutoFocus={giveBack}
          onEscapeKeyDown={stay}
          onPointerDownOutside={stay}
          onInteractOutside={stay}
          className={clsx(
            'pop fixed start-1/2 top-[8vh] z-50 flex max-h-[84vh] w-[calc(100vw-1.5rem)] -translate-x-1/2 flex-col rounded-xl border border-line bg-surface shadow-pop rtl:translate-x-1/2',
            wide ? 'max-w-2xl' : 'max-w-lg',
          )}
        >
          <div className="flex items-start justify-between gap-4 px-5 pt-5">
            <div className="min-w-0">
              <RadixDialog.Title className="text-lg font-semibold break-words">{title}</RadixDialog.Title>
              {description && <RadixDialog.Description className="mt-1 text-muted">{description}</RadixDialog.Description>}
            </div>
            {dismissable && (
              <RadixDialog.Close
                aria-label={t('ui.close')}
                className="-me-1 -mt-1 grid size-8 shrink-0 place-items-center rounded-md text-muted hover:bg-raised hover:text-text"
              >
                <X size={16} aria-hidden />
              </RadixDialog.Close>
            )}
          </div>
          <div {...(reading ? { tabIndex: 0 } : {})} className="min-h-0 flex-1 overflow-y-auto px-5 pt-4 pb-5 -outline-offset-2">
            {children}
          </div>
        </RadixDialog.Content>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  );
}

export function DialogActions({ children }: { children: ReactNode }) {
  return (
    <div className="sticky -bottom-5 -mx-5 mt-6 -mb-5 flex flex-wrap justify-end gap-2 rounded-b-xl border-t border-line bg-surface px-5 py-3.5">
      {children}
    </div>
  );
}

export function MenuContent({ children, ...rest }: ComponentProps<typeof DropdownMenu.Content>) {
  return (
    <DropdownMenu.Portal>
      <DropdownMenu.Content
        sideOffset={6}
        collisionPadding={8}
        {...rest}
        className="pop z-50 min-w-52 rounded-lg border border-line bg-surface p-1 shadow-pop"
      >
        {children}
      </DropdownMenu.Content>
    </DropdownMenu.Portal>
  );
}

export function MenuItem({ danger = false, children, ...rest }: ComponentProps<typeof DropdownMenu.Item> & { danger?: boolean }) {
  return (
    <DropdownMenu.Item
      {...rest}
      className={clsx(
        'flex h-8 cursor-pointer items-center gap-2.5 rounded-md px-2.5 outline-none data-disabled:opacity-50 data-highlighted:bg-raised',
        danger && 'text-danger',
      )}
    >
      {children}
    </DropdownMenu.Item>
  );
}

export function MenuSeparator() {
  return <DropdownMenu.Separator className="my-1 h-px bg-line" />;
}
