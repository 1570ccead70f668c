import type { Feature } from '@/app/feature';

export default {
  pages: [
    { path: '/files', permission: 'files:read', load: () => import('./FilesPage') },
    { path: '/files/$id', load: () => import('./FilePage') },
    { path: '/shared', load: () => import('./SharedPage') },
  ],
} satisfies Feature;
