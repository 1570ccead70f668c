import { NotebookPen } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  commands: [{ label: 'nav.new_note', icon: NotebookPen, to: '/notes/new', permission: 'notes:write' }],
} satisfies Navigation;
