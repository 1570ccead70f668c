import { BookOpenCheck } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  settings: [
    {
      to: '/settings/instance/translations',
      label: 'nav.translations',
      icon: BookOpenCheck,
      section: 'instance',
      permission: 'localization:read',
      order: 46,
    },
  ],
} satisfies Navigation;
