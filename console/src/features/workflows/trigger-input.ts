/** What a trigger gives its workflow: fixed values, or facts of the file that arrived. */
import { gather, textOf, type Gathered } from './inputs';
import type { DeclaredInput } from './shapes';

export const FACTS = ['object.id', 'object.key', 'object.version_id', 'object.filename', 'object.content_type'] as const;
export type FileFact = (typeof FACTS)[number];

/** Each input as the form has it: a fact of the file, or a text. */
export interface Giving {
  fact: FileFact | null;
  text: string;
}
export type Givings = Readonly<Record<string, Giving>>;

const factIn = (value: unknown): FileFact | null => {
  const named = typeof value === 'object' && value !== null ? (value as { $?: unknown }).$ : null;
  return FACTS.find((one) => one === named) ?? null;
};

/** The form of what is kept; an input `object_id` that is not given is filled with the file's id. */
export function givingOf(name: string, input: Readonly<Record<string, unknown>>): Giving {
  const given = input[name];
  if (given === undefined) return { fact: name === 'object_id' ? 'object.id' : null, text: '' };
  const fact = factIn(given);
  return { fact, text: fact ? '' : textOf(given) };
}

export function inputOf(declared: Readonly<Record<string, DeclaredInput>>, givings: Givings): Gathered {
  const facts = Object.entries(givings).filter(([name, { fact }]) => name in declared && fact !== null);
  const typed = Object.fromEntries(Object.entries(declared).filter(([name]) => (givings[name]?.fact ?? null) === null));
  const { input, problems } = gather(typed, Object.fromEntries(Object.entries(givings).map(([name, { text }]) => [name, text])));
  return { input: { ...Object.fromEntries(facts.map(([name, { fact }]) => [name, { $: fact }])), ...input }, problems };
}
