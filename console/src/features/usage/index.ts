import type { Feature } from '@/app/feature';

export default {
  pages: [{ path: '/usage', load: () => import('./UsagePage') }],
} satisfies Feature;
