import { NotebookPen } from 'lucide-react';
import type { Sidebar } from '@/app/feature';

export default {
  places: [{ to: '/notes', label: 'nav.notes', icon: NotebookPen, key: 'n', permission: 'notes:read', bar: true, order: 20 }],
} satisfies Sidebar;
