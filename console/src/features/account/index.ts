import type { Feature } from '@/app/feature';

export default {
  pages: [
    { path: '/settings/profile', load: () => import('./Profile') },
    { path: '/settings/security', load: () => import('./Security') },
    { path: '/settings/appearance', load: () => import('./Appearance') },
  ],
} satisfies Feature;
