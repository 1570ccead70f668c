import { ScrollText } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  settings: [
    { to: '/settings/audit', label: 'nav.audit', icon: ScrollText, section: 'team', key: 'a', permission: 'settings:manage', order: 60 },
    { to: '/settings/company/audit', label: 'nav.audit', icon: ScrollText, section: 'company', permission: 'org:read', order: 60 },
  ],
} satisfies Navigation;
