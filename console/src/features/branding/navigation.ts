import { Paintbrush, Palette } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  settings: [
    {
      to: '/settings/company/branding',
      label: 'nav.branding',
      icon: Palette,
      section: 'company',
      key: 'b',
      permission: 'org:read',
      order: 30,
    },
    {
      to: '/settings/instance/branding',
      label: 'nav.branding',
      icon: Paintbrush,
      section: 'instance',
      permission: 'instance:manage',
      order: 40,
    },
  ],
} satisfies Navigation;
