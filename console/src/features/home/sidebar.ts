import { House } from 'lucide-react';
import type { Sidebar } from '@/app/feature';

export default {
  places: [{ to: '/', label: 'nav.home', icon: House, key: 'h', bar: true, order: 10 }],
} satisfies Sidebar;
