import type { Sidebar } from '@/app/feature';

export default {
  tabs: [{ of: '/files', to: '/documents', label: 'nav.documents', key: 'd', permission: 'files:read', order: 20 }],
} satisfies Sidebar;
