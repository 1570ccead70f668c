import type { Feature } from '@/app/feature';

export default {
  pages: [{ path: '/settings/plugins', load: () => import('./PluginsPage') }],
} satisfies Feature;
