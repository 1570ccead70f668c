import type { Feature } from '@/app/feature';

export default {
  pages: [
    {
      path: '/company',
      permission: 'org:read',
      load: () => import('./CompanyPage'),
      children: [
        { path: '/', load: () => import('@/app/Nothing') },
        { path: '/teams/new', permission: 'org:manage', load: () => import('./NewTeam') },
      ],
    },
    {
      path: '/company/people',
      permission: 'org:read',
      load: () => import('./PeoplePage'),
      children: [
        { path: '/', load: () => import('@/app/Nothing') },
        { path: '/new', permission: 'org:manage', load: () => import('./AddPerson') },
      ],
    },
  ],
} satisfies Feature;
