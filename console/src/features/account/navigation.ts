import { LockKeyhole, SunMoon, UserRound } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  settings: [
    { to: '/settings/profile', label: 'nav.profile', icon: UserRound, section: 'you', order: 10 },
    { to: '/settings/security', label: 'nav.security', icon: LockKeyhole, section: 'you', order: 20 },
    { to: '/settings/appearance', label: 'nav.appearance', icon: SunMoon, section: 'you', order: 50 },
  ],
} satisfies Navigation;
