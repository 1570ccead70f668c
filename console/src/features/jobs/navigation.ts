import { ListTodo } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  commands: [{ label: 'nav.try_job', icon: ListTodo, to: '/jobs/try', permission: 'chat:use' }],
} satisfies Navigation;
