import type { Feature } from '@/app/feature';

export default {
  pages: [{ path: '/settings/usage', load: () => import('./UsagePage') }],
} satisfies Feature;
