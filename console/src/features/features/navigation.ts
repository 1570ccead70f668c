import { ToggleRight } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  settings: [
    {
      to: '/settings/features',
      label: 'nav.features',
      icon: ToggleRight,
      section: 'team',
      key: 'f',
      permission: 'settings:manage',
      order: 30,
    },
  ],
} satisfies Navigation;
