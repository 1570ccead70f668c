import { Building, Plus } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  settings: [
    {
      to: '/settings/instance/companies',
      label: 'nav.companies',
      icon: Building,
      section: 'instance',
      key: 'c',
      permission: 'operator',
      order: 20,
    },
  ],
  commands: [{ label: 'nav.new_company', icon: Plus, to: '/settings/instance/companies/new', permission: 'operator' }],
} satisfies Navigation;
