import { Search } from 'lucide-react';
import type { Sidebar } from '@/app/feature';

const [of, label, permission] = ['/search', 'nav.search', 'search'] as const;

export default {
  places: [{ to: of, label, icon: Search, key: '/', permission, order: 15 }],
  tabs: [{ of, to: of, label, permission, order: 15 }],
} satisfies Sidebar;
