import type { Sidebar } from '@/app/feature';

export default {
  tabs: [{ of: '/search', to: '/knowledge', label: 'nav.knowledge', permission: 'files:read', order: 16 }],
} satisfies Sidebar;
