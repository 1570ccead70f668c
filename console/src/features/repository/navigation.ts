import { Folders, HeartHandshake } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  navigation: [
    { to: '/files', label: 'files.title', icon: Folders, group: 'workspace', key: 'r', permission: 'files:read', order: 24 },
    { to: '/shared', label: 'files.shared_title', icon: HeartHandshake, group: 'workspace', key: 'w', order: 26 },
  ],
} satisfies Navigation;
