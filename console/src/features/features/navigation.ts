import { ToggleRight } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  navigation: [{ to: '/features', label: 'features.title', icon: ToggleRight, group: 'team', key: 'f', order: 50 }],
} satisfies Navigation;
