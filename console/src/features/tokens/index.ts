import type { Feature } from '@/app/feature';

export default {
  pages: [
    {
      path: '/settings/tokens',
      permission: 'settings:manage',
      load: () => import('./TokensPage'),
      children: [
        { path: '/', load: () => import('@/app/Nothing') },
        { path: '/new', load: () => import('./NewToken') },
      ],
    },
  ],
} satisfies Feature;
