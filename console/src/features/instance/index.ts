import type { Feature } from '@/app/feature';

export default {
  pages: [{ path: '/instance', permission: 'instance:manage', load: () => import('./StatusPage') }],
} satisfies Feature;
