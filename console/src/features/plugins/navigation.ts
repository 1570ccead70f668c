import { Puzzle } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  navigation: [{ to: '/plugins', label: 'plugins.title', icon: Puzzle, group: 'instance', key: 'p', order: 80 }],
} satisfies Navigation;
