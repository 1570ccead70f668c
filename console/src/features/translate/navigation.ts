import { BookA } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  settings: [{ to: '/settings/glossary', label: 'nav.glossary', icon: BookA, section: 'team', permission: 'chat:use', order: 45 }],
} satisfies Navigation;
