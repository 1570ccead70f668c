import type { Feature } from '@/app/feature';

const [permission, load] = ['localization:read', () => import('./screens')] as const;

export default {
  pages: [
    { path: '/settings/instance/translations', permission, load },
    { path: '/settings/instance/translations/$view', permission, load },
  ],
} satisfies Feature;
