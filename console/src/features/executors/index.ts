import type { Feature } from '@/app/feature';

export default {
  pages: [
    {
      path: '/executors',
      load: () => import('./ExecutorsPage'),
      children: [
        { path: '/', load: () => import('@/app/Nothing') },
        { path: '/new', load: () => import('./NewExecutor') },
      ],
    },
  ],
} satisfies Feature;
