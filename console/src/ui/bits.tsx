/** Small things every screen is made of. */
import clsx from 'clsx';
import { useEffect, useState, type ReactNode } from 'react';

export type Tone = 'neutral' | 'accent' | 'success' | 'warning' | 'danger' | 'info';

const TONES: Record<Tone, string> = {
  neutral: 'bg-raised text-muted',
  accent: 'bg-accent-soft text-link',
  success: 'bg-success-soft text-success',
  warning: 'bg-warning-soft text-warning',
  danger: 'bg-danger-soft text-danger',
  info: 'bg-info-soft text-info',
};

export function Badge({ tone = 'neutral', children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span
      className={clsx('inline-flex h-5.5 shrink-0 items-center gap-1 rounded-full px-2 text-xs font-medium whitespace-nowrap', TONES[tone])}
    >
      {children}
    </span>
  );
}

/** Something a person or a program wrote; shown as it is, in no catalog. */
export function Raw({ children, className }: { children: ReactNode; className?: string }) {
  return <span data-raw className={className}>{children}</span>;
}

export function Code({ children }: { children: ReactNode }) {
  return <code data-raw className="rounded-sm bg-raised px-1.5 py-0.5 font-mono text-xs break-all">{children}</code>;
}

export function Card({ children, className }: { children: ReactNode; className?: string }) {
  return <div className={clsx('rounded-xl border border-line bg-surface shadow-card', className)}>{children}</div>;
}

export function Avatar({ name, size = 28 }: { name: string; size?: 24 | 28 | 36 }) {
  const letters = name.split(/[\s._@-]+/).filter(Boolean).map((word) => word[0]).join('').slice(0, 2).toUpperCase();
  const box = { 24: 'size-6 text-[.625rem]', 28: 'size-7 text-xs', 36: 'size-9 text-sm' }[size];
  return (
    <span
      aria-hidden
      data-raw
      className={clsx('grid shrink-0 place-items-center rounded-full bg-accent-soft font-semibold text-link', box)}
    >
      {letters}
    </span>
  );
}

/** True once something has taken longer than 200 ms: a faster answer shows no skeleton at all. */
export function useSlow(pending: boolean, milliseconds = 200): boolean {
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    if (!pending) return;
    const timer = setTimeout(() => setSlow(true), milliseconds);
    return () => {
      clearTimeout(timer);
      setSlow(false);
    };
  }, [pending, milliseconds]);
  return pending && slow;
}

/** Rows to come, in the shape of the rows they stand for. */
export function SkeletonRows({ rows = 5, label }: { rows?: number; label: string }) {
  const slow = useSlow(true);
  return (
    <div role="status" aria-label={label} className="divide-y divide-line">
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} className="flex h-14 items-center gap-3 px-4">
          {slow && (
            <>
              <div className="skeleton size-7 rounded-full" />
              <div className="grid flex-1 gap-1.5">
                <div className="skeleton h-3 w-2/5" />
                <div className="skeleton h-2.5 w-1/4" />
              </div>
            </>
          )}
        </div>
      ))}
    </div>
  );
}

export function Kbd({ children }: { children: ReactNode }) {
  return <kbd data-raw className="kbd">{children}</kbd>;
}
