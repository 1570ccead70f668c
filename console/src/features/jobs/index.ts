import type { Feature } from '@/app/feature';

export default {
  pages: [
    {
      path: '/jobs',
      load: () => import('./JobsPage'),
      children: [
        { path: '/', load: () => import('@/app/Nothing') },
        { path: '/try', permission: 'chat:use', load: () => import('./TryJob') },
      ],
    },
    { path: '/jobs/$id', load: () => import('./JobPage') },
  ],
} satisfies Feature;
