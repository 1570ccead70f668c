import { Puzzle } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  navigation: [{ to: '/plugins', label: 'plugins.title', icon: Puzzle, group: 'instance', key: 'x', order: 80 }],
} satisfies Navigation;
