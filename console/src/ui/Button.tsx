import clsx from 'clsx';
import { LoaderCircle } from 'lucide-react';
import type { ButtonHTMLAttributes, Ref } from 'react';

export type ButtonKind = 'default' | 'primary' | 'ghost' | 'danger' | 'danger-ghost';
export type ButtonSize = 'small' | 'medium' | 'large';

const KINDS: Record<ButtonKind, string> = {
  default: 'border border-line bg-surface text-text shadow-card hover:bg-raised',
  primary: 'bg-accent text-on-accent shadow-card hover:shadow-pop',
  ghost: 'text-text hover:bg-raised',
  danger: 'bg-danger text-on-danger shadow-card hover:shadow-pop',
  'danger-ghost': 'text-danger hover:bg-danger-soft',
};
const SIZES: Record<ButtonSize, string> = { small: 'h-7 px-2.5 text-sm', medium: 'h-9 px-3.5 text-base', large: 'h-10 px-4 text-base' };

/** The look of a button, for links that act like one. */
export function buttonClass(kind: ButtonKind = 'default', size: ButtonSize = 'medium', more?: string): string {
  return clsx(
    'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap transition',
    KINDS[kind],
    SIZES[size],
    more,
  );
}

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: ButtonKind;
  size?: ButtonSize;
  /** Working: keeps its label and its width, takes no click. */
  busy?: boolean;
  ref?: Ref<HTMLButtonElement>;
}

export function Button({ kind, size, busy = false, className, children, disabled, ...rest }: Props) {
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
      className={buttonClass(kind, size, clsx('disabled:opacity-60', className))}
    >
      {busy && <LoaderCircle size={14} className="animate-spin" aria-hidden />}
      {children}
    </button>
  );
}
