import { Bot, Cpu } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  settings: [
    { to: '/settings/models', label: 'nav.models', icon: Bot, section: 'team', permission: 'settings:manage', order: 40 },
    { to: '/settings/executors', label: 'nav.executors', icon: Cpu, section: 'company', key: 'e', permission: 'org:read', order: 40 },
    { to: '/settings/instance/executors', label: 'nav.executors', icon: Cpu, section: 'instance', permission: 'operator', order: 30 },
  ],
  commands: [{ label: 'nav.new_executor', icon: Cpu, to: '/settings/executors/new', permission: 'org:manage' }],
} satisfies Navigation;
