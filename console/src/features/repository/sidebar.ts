import { Folders } from 'lucide-react';
import type { Sidebar } from '@/app/feature';

export default {
  places: [{ to: '/files', label: 'nav.files', icon: Folders, key: 'r', permission: 'files:read', bar: true, order: 30 }],
  tabs: [
    { of: '/files', to: '/files', label: 'nav.all_files', permission: 'files:read', order: 10 },
    { of: '/files', to: '/shared', label: 'nav.shared', key: 'w', order: 30 },
  ],
} satisfies Sidebar;
