import { ListTodo } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  navigation: [{ to: '/jobs', label: 'jobs.title', icon: ListTodo, group: 'workspace', key: 'q', order: 29 }],
  commands: [{ id: 'jobs.try', label: 'jobs.try', icon: ListTodo, to: '/jobs/try', permission: 'chat:use' }],
} satisfies Navigation;
