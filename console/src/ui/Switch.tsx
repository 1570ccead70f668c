import clsx from 'clsx';

export function Switch({
  on,
  onChange,
  label,
  disabled = false,
}: {
  on: boolean;
  onChange: (on: boolean) => void;
  label: string;
  disabled?: boolean;
}) {
  return (
    <button
      type="button"
      role="switch"
      aria-checked={on}
      aria-label={label}
      disabled={disabled}
      onClick={() => onChange(!on)}
      className={clsx(
        'relative h-6 w-10 shrink-0 rounded-full border transition-colors disabled:opacity-60',
        on ? 'border-accent bg-accent' : 'border-line-strong bg-raised',
      )}
    >
      <span
        aria-hidden
        className={clsx(
          'absolute top-[3px] size-4 rounded-full transition-[inset-inline-start]',
          on ? 'start-[19px] bg-on-accent' : 'start-[3px] bg-line-strong',
        )}
      />
    </button>
  );
}
