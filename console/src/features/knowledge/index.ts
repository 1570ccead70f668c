import type { Feature } from '@/app/feature';

/** Two screens that are opened one after the other. */
const [permission, load] = ['files:read', () => import('./screens')] as const;

export default {
  pages: [
    { path: '/knowledge', permission, load },
    { path: '/knowledge/$id', permission, load },
  ],
} satisfies Feature;
