import { ClipboardPen, UserRoundPlus } from 'lucide-react';
import type { Navigation } from '@/app/feature';

/** Who manages the first team's settings finds the screens by their address too; only operators are sure to be of that team. */
export default {
  settings: [
    {
      to: '/settings/instance/sign-ups',
      label: 'nav.sign_ups',
      icon: UserRoundPlus,
      section: 'instance',
      permission: 'operator',
      order: 25,
    },
    {
      to: '/settings/instance/sign-up-form',
      label: 'nav.sign_up_form',
      icon: ClipboardPen,
      section: 'instance',
      permission: 'operator',
      order: 26,
    },
  ],
} satisfies Navigation;
