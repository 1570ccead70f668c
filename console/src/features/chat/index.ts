import type { Feature } from '@/app/feature';

export default {
  pages: [
    {
      path: '/chat',
      permission: 'chat:use',
      load: () => import('./ChatLayout'),
      children: [
        { path: '/', load: () => import('./NewChat') },
        { path: '/$id', load: () => import('./ChatPage') },
      ],
    },
  ],
} satisfies Feature;
