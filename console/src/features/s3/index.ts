import type { Feature } from '@/app/feature';

export default {
  pages: [
    {
      path: '/settings/s3-keys',
      load: () => import('./KeysPage'),
      children: [
        { path: '/', load: () => import('@/app/Nothing') },
        { path: '/new', load: () => import('./NewKey') },
      ],
    },
  ],
} satisfies Feature;
