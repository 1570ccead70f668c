/** Short news at the edge of the screen; what was done can be undone while the news is there. */
import { X } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { useLanguage } from '@/i18n/language';

interface Toast {
  id: number;
  text: string;
  undo?: () => void;
}

const SHORT = 4000;
let toasts: Toast[] = [];
let last = 0;
const listeners = new Set<() => void>();

function show(next: Toast[]): void {
  toasts = next;
  listeners.forEach((tell) => tell());
}

const remove = (id: number) => show(toasts.filter((one) => one.id !== id));

export function toast(text: string, options: { undo?: () => void; milliseconds?: number } = {}): void {
  const id = ++last;
  show([...toasts, { id, text, ...(options.undo ? { undo: options.undo } : {}) }].slice(-3));
  setTimeout(() => remove(id), options.milliseconds ?? SHORT);
}

export function Toaster() {
  const { t } = useLanguage();
  const shown = useSyncExternalStore((tell) => (listeners.add(tell), () => listeners.delete(tell)), () => toasts);
  return (
    <div
      role="status"
      aria-live="polite"
      className="pointer-events-none fixed inset-x-3 bottom-3 z-50 grid justify-items-end gap-2 sm:start-auto"
    >
      {shown.map((one) => (
        <div
          key={one.id}
          data-testid="toast"
          className="pop pointer-events-auto flex max-w-md min-w-0 items-center gap-3 rounded-lg bg-text py-2.5 ps-4 pe-2 text-bg shadow-pop"
        >
          <span className="min-w-0 break-words">{one.text}</span>
          {one.undo && (
            <button
              type="button"
              className="h-6 rounded-md px-1.5 font-semibold underline underline-offset-2"
              onClick={() => {
                one.undo?.();
                remove(one.id);
              }}
            >
              {t('ui.undo')}
            </button>
          )}
          <button
            type="button"
            aria-label={t('ui.dismiss')}
            className="grid size-6 shrink-0 place-items-center rounded-md"
            onClick={() => remove(one.id)}
          >
            <X size={14} aria-hidden />
          </button>
        </div>
      ))}
    </div>
  );
}
