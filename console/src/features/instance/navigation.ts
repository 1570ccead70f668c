import { Activity } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  navigation: [{ to: '/instance', label: 'instance.title', icon: Activity, group: 'instance', key: 'i', permission: 'instance:manage', order: 70 }],
} satisfies Navigation;
