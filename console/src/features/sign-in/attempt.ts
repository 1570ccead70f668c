/** One try at getting in: working, refused or done. Smaller than a query library's mutation, which nobody needs before signing in. */
import { useState } from 'react';

export interface Attempt<Input> {
  try: (input: Input) => void;
  busy: boolean;
  error: Error | null;
  reset: () => void;
}

export function useAttempt<Input, Output>(
  run: (input: Input) => Promise<Output>,
  onSuccess: (output: Output) => void | Promise<void>,
  onError?: (error: Error, input: Input) => void,
): Attempt<Input> {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const attempt = async (input: Input) => {
    setBusy(true);
    setError(null);
    try {
      await onSuccess(await run(input));
    } catch (caught) {
      const refused = caught instanceof Error ? caught : new Error(String(caught));
      setError(refused);
      onError?.(refused, input);
    } finally {
      setBusy(false);
    }
  };
  return { try: (input) => void attempt(input), busy, error, reset: () => setError(null) };
}
