import type { Feature } from '@/app/feature';

export default {
  pages: [
    { path: '/settings/instance', permission: 'instance:manage', load: () => import('./StatusPage') },
    { path: '/settings/instance/languages', permission: 'instance:manage', load: () => import('./LanguagesPage') },
  ],
} satisfies Feature;
