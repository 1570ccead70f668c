import type { Feature } from '@/app/feature';

export default {
  pages: [{ path: '/', load: () => import('./Home') }],
} satisfies Feature;
