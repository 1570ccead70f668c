import { UserPlus, Users } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  navigation: [{ to: '/members', label: 'members.title', icon: Users, group: 'team', key: 'm', order: 30 }],
  commands: [{ id: 'members.add', label: 'members.add', icon: UserPlus, to: '/members/new', permission: 'members:manage' }],
} satisfies Navigation;
