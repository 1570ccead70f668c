import { Puzzle } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  settings: [
    {
      to: '/settings/plugins',
      label: 'nav.plugins',
      icon: Puzzle,
      section: 'instance',
      key: 'x',
      permission: 'instance:manage',
      order: 60,
    },
  ],
} satisfies Navigation;
