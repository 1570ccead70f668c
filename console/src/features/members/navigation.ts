import { UserPlus, Users } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  settings: [{ to: '/settings/members', label: 'nav.members', icon: Users, section: 'team', key: 'm', order: 10 }],
  commands: [{ label: 'nav.add_member', icon: UserPlus, to: '/settings/members/new', permission: 'members:manage' }],
} satisfies Navigation;
