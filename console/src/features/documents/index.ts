import type { Feature } from '@/app/feature';

export default {
  pages: [
    { path: '/documents', permission: 'files:read', load: () => import('./DocumentsPage') },
    { path: '/documents/new', permission: 'files:write', load: () => import('./DocumentNew') },
    { path: '/documents/$id', load: () => import('./DocumentPage') },
  ],
} satisfies Feature;
