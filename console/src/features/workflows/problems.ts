/** What is wrong with a spec: what the server says about it, and where in the text that is. */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { isRefusal, type Refusal } from '@/api/refusal';
import { lineOf, readJson } from './positions';
import { validate } from './server';

export interface SpecProblem {
  line: number;
  path: string;
  code: string;
  /** In the server's words; none for what is no JSON. */
  message: string;
}

interface Told {
  path?: unknown;
  code?: unknown;
  message?: unknown;
}

const AFTER = 400;
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

export const toldIn = (error: unknown): Told[] => {
  const errors = isRefusal(error) ? error.facts['errors'] : null;
  return Array.isArray(errors) ? (errors as Told[]) : [];
};

function useLate(value: string): string {
  const [late, setLate] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setLate(value), AFTER);
    return () => clearTimeout(timer);
  }, [value]);
  return late;
}

export interface Verdict {
  spec: unknown;
  problems: SpecProblem[];
  /** The longest way through it, once it is valid. */
  longest: number | null;
  /** Something else than the spec was refused, or the server could not be asked. */
  refusal: Refusal | null;
  /** The text has changed since it was judged. */
  judging: boolean;
  /** The line of what a path names. */
  lineOf: (path: string) => number;
}

export function useVerdict(source: string): Verdict {
  const late = useLate(source);
  const read = useMemo(() => readJson(late), [late]);
  const judged = useQuery({
    queryKey: ['workflows', 'judged', late],
    queryFn: ({ signal }) => validate(read.value, signal),
    enabled: read.broken === null,
    retry: false,
    staleTime: Infinity,
    gcTime: 0,
  });
  const invalid = isRefusal(judged.error, 'workflows.invalid');
  const problems = useMemo((): SpecProblem[] => {
    if (read.broken !== null) return [{ line: read.broken, path: '', code: 'json', message: '' }];
    if (!isRefusal(judged.error, 'workflows.invalid')) return [];
    return toldIn(judged.error)
      .map(({ path, code, message }) => ({ line: lineOf(read, text(path)), path: text(path), code: text(code), message: text(message) }))
      .sort((one, other) => one.line - other.line);
  }, [read, judged.error]);
  return {
    spec: read.value,
    problems,
    longest: read.broken === null ? (judged.data?.longest_path ?? null) : null,
    refusal: !invalid && isRefusal(judged.error) ? judged.error : null,
    judging: late !== source || judged.isFetching,
    lineOf: (path) => lineOf(read, path),
  };
}
