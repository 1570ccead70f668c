/** A labelled control with its hint and what is wrong with it. */
import clsx from 'clsx';
import { CircleAlert } from 'lucide-react';
import { useId, type InputHTMLAttributes, type ReactNode, type Ref, type SelectHTMLAttributes } from 'react';

interface About {
  label: string;
  hint?: string | undefined;
  problem?: string | undefined;
  optional?: string | undefined;
}

interface Wiring {
  id: string;
  'aria-invalid': true | undefined;
  'aria-describedby': string | undefined;
}

export function Field({ label, hint, problem, optional, children }: About & { children: (wiring: Wiring) => ReactNode }) {
  const id = useId();
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="mb-1.5 flex items-baseline gap-2 text-sm font-medium">
        {label}
        {optional && <span className="font-normal text-muted">{optional}</span>}
      </label>
      {children({ id, 'aria-invalid': problem ? true : undefined, 'aria-describedby': problem || hint ? `${id}-about` : undefined })}
      {(problem || hint) && (
        <p id={`${id}-about`} className={clsx('mt-1.5 flex items-start gap-1.5 text-sm', problem ? 'text-danger' : 'text-muted')}>
          {problem && <CircleAlert size={14} className="mt-0.5 shrink-0" aria-hidden />}
          <span>{problem ?? hint}</span>
        </p>
      )}
    </div>
  );
}

export function TextField({
  label,
  hint,
  problem,
  optional,
  className,
  ref,
  ...rest
}: About & InputHTMLAttributes<HTMLInputElement> & { ref?: Ref<HTMLInputElement> }) {
  return (
    <Field label={label} hint={hint} problem={problem} optional={optional}>
      {(wiring) => <input ref={ref} type="text" {...rest} {...wiring} className={clsx('field', className)} />}
    </Field>
  );
}

export function SelectField({ label, hint, problem, children, ...rest }: About & SelectHTMLAttributes<HTMLSelectElement>) {
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(wiring) => <select {...rest} {...wiring} className="field pe-8">{children}</select>}
    </Field>
  );
}
