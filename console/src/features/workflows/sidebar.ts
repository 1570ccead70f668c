import { Workflow } from 'lucide-react';
import type { Sidebar } from '@/app/feature';

const [of, permission] = ['/workflows', 'workflows:read'];

export default {
  places: [{ to: of, label: 'nav.automation', icon: Workflow, key: 'y', permission, order: 50 }],
  tabs: [
    { of, to: of, label: 'nav.workflows', permission, order: 50 },
    { of, to: '/runs', label: 'nav.runs', key: 'g', permission, order: 51 },
    { of, to: '/triggers', label: 'nav.triggers', key: 'j', permission, order: 52 },
  ],
} satisfies Sidebar;
