import { Gauge } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  settings: [{ to: '/settings/usage', label: 'nav.usage', icon: Gauge, section: 'team', key: 'u', order: 20 }],
} satisfies Navigation;
