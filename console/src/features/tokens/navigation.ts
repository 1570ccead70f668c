import { KeyRound } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  settings: [
    { to: '/settings/tokens', label: 'nav.tokens', icon: KeyRound, section: 'you', key: 't', permission: 'settings:manage', order: 30 },
  ],
  commands: [{ label: 'nav.new_token', icon: KeyRound, to: '/settings/tokens/new', permission: 'settings:manage' }],
} satisfies Navigation;
