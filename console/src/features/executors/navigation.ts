import { Cpu } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  navigation: [{ to: '/executors', label: 'executors.title', icon: Cpu, group: 'team', key: 'e', order: 45 }],
  commands: [{ id: 'executors.new', label: 'executors.new', icon: Cpu, to: '/executors/new', permission: 'org:manage' }],
} satisfies Navigation;
