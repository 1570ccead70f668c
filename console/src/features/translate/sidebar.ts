import { Languages } from 'lucide-react';
import type { Sidebar } from '@/app/feature';

export default {
  places: [{ to: '/translate', label: 'nav.translate', icon: Languages, key: 'v', permission: 'chat:use', order: 45 }],
} satisfies Sidebar;
