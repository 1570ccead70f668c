import type { Feature } from '@/app/feature';

const permission = 'instance:manage';

/** Operators only: every company of the instance. */
export default {
  pages: [
    {
      path: '/instance/companies',
      permission,
      load: () => import('./CompaniesPage'),
      children: [
        { path: '/', load: () => import('@/app/Nothing') },
        { path: '/new', permission, load: () => import('./NewCompany') },
      ],
    },
    { path: '/instance/companies/$ref', permission, load: () => import('./CompanyPage') },
  ],
} satisfies Feature;
