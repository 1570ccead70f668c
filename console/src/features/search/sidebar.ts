import { Search } from 'lucide-react';
import type { Sidebar } from '@/app/feature';

export default {
  places: [{ to: '/search', label: 'nav.search', icon: Search, key: '/', permission: 'search', order: 15 }],
} satisfies Sidebar;
