import { Building2, Contact, UserPlus, UsersRound } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  settings: [
    { to: '/settings/company', label: 'nav.overview', icon: Building2, section: 'company', key: 'o', permission: 'org:read', order: 10 },
    { to: '/settings/company/people', label: 'nav.people', icon: Contact, section: 'company', key: 'p', permission: 'org:read', order: 20 },
  ],
  commands: [
    { label: 'nav.new_team', icon: UsersRound, to: '/settings/company/teams/new', permission: 'org:manage' },
    { label: 'nav.add_person', icon: UserPlus, to: '/settings/company/people/new', permission: 'org:manage' },
  ],
} satisfies Navigation;
