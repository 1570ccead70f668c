import { ListTodo } from 'lucide-react';
import type { Sidebar } from '@/app/feature';

export default {
  places: [{ to: '/jobs', label: 'nav.jobs', icon: ListTodo, key: 'q', permission: 'chat:use', order: 60 }],
} satisfies Sidebar;
