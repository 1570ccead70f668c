import type { Feature } from '@/app/feature';

export default {
  pages: [
    {
      path: '/account',
      load: () => import('./AccountLayout'),
      children: [
        { path: '/profile', load: () => import('./Profile') },
        { path: '/security', load: () => import('./Security') },
        { path: '/preferences', load: () => import('./Preferences') },
      ],
    },
  ],
} satisfies Feature;
