import { NotebookPen } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  navigation: [{ to: '/notes', label: 'notes.title', icon: NotebookPen, group: 'workspace', key: 'n', permission: 'notes:read', order: 20 }],
  commands: [{ id: 'notes.new', label: 'notes.new', icon: NotebookPen, to: '/notes/new', permission: 'notes:write' }],
} satisfies Navigation;
