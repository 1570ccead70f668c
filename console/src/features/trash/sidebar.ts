import type { Sidebar } from '@/app/feature';

export default {
  tabs: [{ of: '/files', to: '/trash', label: 'nav.trash', key: 'z', permission: 'files:write', order: 40 }],
} satisfies Sidebar;
