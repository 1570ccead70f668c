/** Where things open that programs name by kind and id. */

const PATHS: Readonly<Record<string, string>> = {
  note: '/notes/$id',
  document: '/documents/$id',
  object: '/files/$id',
  entity: '/knowledge/$id',
  run: '/runs/$id',
};

export interface Ref {
  kind: string;
  id: string;
}

/** A program's words are no reference before they are looked at. */
export const refIn = (value: unknown): Ref | null => {
  if (typeof value !== 'object' || value === null) return null;
  const { kind, id } = value as Partial<Record<keyof Ref, unknown>>;
  return typeof kind === 'string' && typeof id === 'string' && Object.hasOwn(PATHS, kind) ? { kind, id } : null;
};

/** Nothing for what no screen shows. */
export const pathOf = ({ kind }: Ref): string | undefined => (Object.hasOwn(PATHS, kind) ? PATHS[kind] : undefined);
