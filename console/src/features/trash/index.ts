import type { Feature } from '@/app/feature';

export default { pages: [{ path: '/trash', load: () => import('./TrashPage') }] } satisfies Feature;
