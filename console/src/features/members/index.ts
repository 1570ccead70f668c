import type { Feature } from '@/app/feature';

export default {
  pages: [
    {
      path: '/settings/members',
      load: () => import('./MembersPage'),
      children: [
        { path: '/', load: () => import('@/app/Nothing') },
        { path: '/new', permission: 'members:manage', load: () => import('./AddMember') },
      ],
    },
  ],
} satisfies Feature;
