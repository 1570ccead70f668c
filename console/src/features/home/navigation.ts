import { House } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  navigation: [{ to: '/', label: 'home.title', icon: House, group: 'workspace', key: 'h', order: 10 }],
} satisfies Navigation;
