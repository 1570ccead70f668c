import { KeySquare } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  navigation: [{ to: '/s3-keys', label: 's3.title', icon: KeySquare, group: 'workspace', key: 'k', permission: 'files:read', order: 28 }],
  commands: [{ id: 's3.new', label: 's3.new', icon: KeySquare, to: '/s3-keys/new', permission: 'files:read' }],
} satisfies Navigation;
