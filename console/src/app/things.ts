/** Where a found thing is, and what it looks like. */
import { File, FileText, NotebookPen, UserRound, type LucideIcon } from 'lucide-react';
import type { Schemas } from '@/api/client';

export const ICONS: Record<string, LucideIcon> = { note: NotebookPen, document: FileText, object: File, entity: UserRound };

const PATHS: Record<string, string> = { note: '/notes/$id', document: '/documents/$id', object: '/files/$id', entity: '/knowledge/$id' };

/** What was found; the spans of a snippet as TypeScript reads them. */
export type Hit = Omit<Schemas['SearchHit'], 'marks'> & { marks: number[][] };

/** Where a hit is; a file that was found by its text alone opens where it matched. */
export function addressOf({ kind, id, snippet, marks, matched }: Hit) {
  const address = { to: PATHS[kind] ?? '/search', params: { id } };
  const from = marks[0]?.[0];
  if (kind !== 'object' || !snippet || from === undefined || matched.some((one) => one !== 'text')) return address;
  return { ...address, search: { view: 'text', find: [...snippet].slice(from, marks.at(-1)![1]).join('') } as never };
}
