import { Paintbrush, Palette } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  navigation: [
    { to: '/company/branding', label: 'branding.company_title', icon: Palette, group: 'company', key: 'b', permission: 'org:read', order: 64 },
    { to: '/instance/branding', label: 'branding.instance_title', icon: Paintbrush, group: 'instance', permission: 'instance:manage', order: 74 },
  ],
} satisfies Navigation;
