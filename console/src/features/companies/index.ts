import type { Feature } from '@/app/feature';

const permission = 'operator';

/** Operators only: every company of the instance. */
export default {
  pages: [
    {
      path: '/settings/instance/companies',
      permission,
      load: () => import('./CompaniesPage'),
      children: [
        { path: '/', load: () => import('@/app/Nothing') },
        { path: '/new', permission, load: () => import('./NewCompany') },
      ],
    },
    { path: '/settings/instance/companies/$ref', permission, load: () => import('./CompanyPage') },
  ],
} satisfies Feature;
