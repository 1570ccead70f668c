/** Views of one thing, one at a time: arrows move between them in reading direction. The panel has the id `view`. */
import clsx from 'clsx';
import type { KeyboardEvent, ReactNode } from 'react';

interface Props<T extends string> {
  views: readonly T[];
  view: T;
  label: string;
  className?: string;
  onView: (view: T) => void;
  /** What a tab says. */
  children: (view: T) => ReactNode;
}

export function Tabs<T extends string>({ views, view, label, className, onView, children }: Props<T>) {
  const step = (event: KeyboardEvent) => {
    const ahead = document.documentElement.dir === 'rtl' ? -1 : 1;
    const by = { ArrowRight: ahead, ArrowLeft: -ahead }[event.key];
    if (!by) return;
    const next = views[(views.indexOf(view) + by + views.length) % views.length]!;
    onView(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <div
      role="tablist"
      aria-label={label}
      onKeyDown={step}
      className={clsx('flex gap-1 overflow-x-auto overflow-y-hidden border-b border-line', className)}
    >
      {views.map((one) => (
        <button
          key={one}
          id={`tab-${one}`}
          type="button"
          role="tab"
          aria-selected={view === one}
          aria-controls={view === one ? 'view' : undefined}
          tabIndex={view === one ? 0 : -1}
          onClick={() => onView(one)}
          className={clsx(
            'flex h-11 shrink-0 items-center gap-1.5 border-b-2 px-2.5 font-medium -outline-offset-2',
            view === one ? 'border-accent text-link' : 'border-transparent text-muted hover:text-text',
          )}
        >
          {children(one)}
        </button>
      ))}
    </div>
  );
}
