import type { Feature } from '@/app/feature';

export default {
  pages: [{ path: '/settings/features', load: () => import('./FeaturesPage') }],
} satisfies Feature;
