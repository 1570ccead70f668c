import { KeySquare } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  settings: [
    { to: '/settings/s3-keys', label: 'nav.s3_keys', icon: KeySquare, section: 'you', key: 'k', permission: 'files:read', order: 40 },
  ],
  commands: [{ label: 'nav.new_s3_key', icon: KeySquare, to: '/settings/s3-keys/new', permission: 'files:read' }],
} satisfies Navigation;
