import type { Feature } from '@/app/feature';

export default {
  pages: [{ path: '/features', load: () => import('./FeaturesPage') }],
} satisfies Feature;
