import type { Feature } from '@/app/feature';

export default {
  pages: [
    {
      path: '/settings/company',
      permission: 'org:read',
      load: () => import('./CompanyPage'),
      children: [
        { path: '/', load: () => import('@/app/Nothing') },
        { path: '/teams/new', permission: 'org:manage', load: () => import('./NewTeam') },
      ],
    },
    {
      path: '/settings/company/people',
      permission: 'org:read',
      load: () => import('./PeoplePage'),
      children: [
        { path: '/', load: () => import('@/app/Nothing') },
        { path: '/new', permission: 'org:manage', load: () => import('./AddPerson') },
      ],
    },
  ],
} satisfies Feature;
