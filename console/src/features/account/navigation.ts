import { UserRound } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  navigation: [{ to: '/account/profile', label: 'account.title', icon: UserRound, group: 'account', key: 's', order: 90 }],
} satisfies Navigation;
