import type { Feature } from '@/app/feature';

export default {
  pages: [{ path: '/plugins', load: () => import('./PluginsPage') }],
} satisfies Feature;
