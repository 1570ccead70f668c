import { Building, Plus } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  navigation: [{ to: '/instance/companies', label: 'companies.title', icon: Building, group: 'instance', key: 'c', permission: 'instance:manage', order: 72 }],
  commands: [{ id: 'companies.new', label: 'companies.new', icon: Plus, to: '/instance/companies/new', permission: 'instance:manage' }],
} satisfies Navigation;
