/** what was typed for a workflow's inputs, as the values they declare. */
import type { MessageKey } from '@/i18n/language';
import type { DeclaredInput } from './shapes';

export type Texts = Readonly<Record<string, string>>;
type Found = { value: unknown } | { absent: true } | { problem: MessageKey };

/** A text for the field of an input that has this value already. */
export function textOf(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** An input that names a file of the team, which can be chosen instead of typed. */
export const isFile = (name: string, { type }: DeclaredInput): boolean => type === 'string' && /(^|_)object_id$/.test(name);

export function valueOf(declared: DeclaredInput, text: string): Found {
  const { type, optional = false } = declared;
  if (type === 'string') return text === '' && optional ? { absent: true } : { value: text };
  if (text.trim() === '') return optional ? { absent: true } : { problem: 'ui.needed' };
  if (type === 'boolean') return { value: text === 'true' };
  if (type === 'number' || type === 'integer') {
    const number = Number(text);
    const fits = Number.isFinite(number) && (type === 'number' || Number.isSafeInteger(number));
    return fits ? { value: number } : { problem: type === 'integer' ? 'workflows.not_integer' : 'workflows.not_number' };
  }
  try {
    const value: unknown = JSON.parse(text);
    const isList = Array.isArray(value);
    if (type === 'array' ? isList : typeof value === 'object' && value !== null && !isList) return { value };
  } catch {
    // What is no JSON is neither.
  }
  return { problem: type === 'array' ? 'workflows.not_array' : 'workflows.not_object' };
}

export interface Gathered {
  input: Record<string, unknown>;
  problems: Record<string, MessageKey>;
}

export function gather(declared: Readonly<Record<string, DeclaredInput>>, texts: Texts): Gathered {
  const gathered: Gathered = { input: {}, problems: {} };
  for (const [name, one] of Object.entries(declared)) {
    const text = texts[name] ?? '';
    const found: Found = isFile(name, one) && text === '' && !one.optional ? { problem: 'workflows.file_needed' } : valueOf(one, text);
    if ('problem' in found) gathered.problems[name] = found.problem;
    if ('value' in found) gathered.input[name] = found.value;
  }
  return gathered;
}
