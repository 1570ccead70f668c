/** Where a found thing is, and what it looks like. */
import { File, FileText, NotebookPen, type LucideIcon } from 'lucide-react';
import type { Schemas } from '@/api/client';

export const ICONS: Record<string, LucideIcon> = { note: NotebookPen, document: FileText, object: File };

const PATHS: Record<string, string> = { note: '/notes/$id', document: '/documents/$id', object: '/files/$id' };

export const addressOf = ({ kind, id }: Pick<Schemas['SearchHit'], 'kind' | 'id'>) => ({ to: PATHS[kind] ?? '/search', params: { id } });
