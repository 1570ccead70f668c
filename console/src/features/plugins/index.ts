import type { Feature } from '@/app/feature';

export default {
  pages: [
    { path: '/settings/plugins', load: () => import('./PluginsPage') },
    { path: '/plugins/$id', load: () => import('./PluginPage') },
  ],
} satisfies Feature;
