import type { Feature } from '@/app/feature';

export default {
  pages: [{ path: '/search', permission: 'search', load: () => import('./SearchPage') }],
} satisfies Feature;
