import type { Feature } from '@/app/feature';

export default {
  pages: [
    { path: '/translate', permission: 'chat:use', load: () => import('./TranslatePage') },
    { path: '/settings/glossary', permission: 'chat:use', load: () => import('./GlossaryPage') },
  ],
} satisfies Feature;
