import { Gauge } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  navigation: [{ to: '/usage', label: 'usage.title', icon: Gauge, group: 'team', key: 'u', order: 35 }],
} satisfies Navigation;
