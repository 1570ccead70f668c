import { Activity, Languages } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  settings: [
    {
      to: '/settings/instance',
      label: 'nav.status',
      icon: Activity,
      section: 'instance',
      key: 'i',
      permission: 'instance:manage',
      order: 10,
    },
    {
      to: '/settings/instance/languages',
      label: 'nav.languages',
      icon: Languages,
      section: 'instance',
      permission: 'instance:manage',
      order: 45,
    },
  ],
} satisfies Navigation;
