import type { Feature } from '@/app/feature';

/** One editor, two looks: a company's own, and the instance's beneath every company. */
export default {
  pages: [
    { path: '/settings/company/branding', permission: 'org:read', load: () => import('./CompanyBranding') },
    { path: '/settings/instance/branding', permission: 'instance:manage', load: () => import('./InstanceBranding') },
  ],
} satisfies Feature;
