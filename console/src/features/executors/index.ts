import type { Feature, PageRoute } from '@/app/feature';

const children: PageRoute[] = [
  { path: '/', load: () => import('@/app/Nothing') },
  { path: '/new', load: () => import('./NewExecutor') },
];

export default {
  pages: [
    { path: '/settings/executors', load: () => import('./ExecutorsPage'), children },
    { path: '/settings/instance/executors', permission: 'operator', load: () => import('./InstanceExecutors'), children },
    { path: '/settings/models', load: () => import('./ModelsPage') },
  ],
} satisfies Feature;
