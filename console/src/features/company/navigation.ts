import { Building2, Contact, UserPlus, UsersRound } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  navigation: [
    { to: '/company', label: 'company.title', icon: Building2, group: 'company', key: 'o', permission: 'org:read', order: 62 },
    { to: '/company/people', label: 'company.people', icon: Contact, group: 'company', key: 'p', permission: 'org:read', order: 63 },
  ],
  commands: [
    { id: 'company.team', label: 'company.new_team', icon: UsersRound, to: '/company/teams/new', permission: 'org:manage' },
    { id: 'company.person', label: 'company.add_person', icon: UserPlus, to: '/company/people/new', permission: 'org:manage' },
  ],
} satisfies Navigation;
