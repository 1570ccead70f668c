import { ScrollText } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  navigation: [
    { to: '/audit', label: 'audit.title', icon: ScrollText, group: 'team', key: 'a', permission: 'settings:manage', order: 60 },
    { to: '/company/audit', label: 'company.audit', icon: ScrollText, group: 'company', permission: 'org:read', order: 65 },
  ],
} satisfies Navigation;
