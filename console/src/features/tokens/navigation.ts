import { KeyRound } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  navigation: [{ to: '/tokens', label: 'tokens.title', icon: KeyRound, group: 'team', key: 't', permission: 'settings:manage', order: 40 }],
  commands: [{ id: 'tokens.new', label: 'tokens.new', icon: KeyRound, to: '/tokens/new', permission: 'settings:manage' }],
} satisfies Navigation;
