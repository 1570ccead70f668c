import { MessagesSquare } from 'lucide-react';
import type { Sidebar } from '@/app/feature';

export default {
  places: [{ to: '/chat', label: 'nav.chat', icon: MessagesSquare, key: 'l', permission: 'chat:use', order: 40 }],
} satisfies Sidebar;
