import type { Feature } from '@/app/feature';

export default {
  pages: [
    { path: '/settings/audit', permission: 'settings:manage', load: () => import('./AuditPage') },
    { path: '/settings/company/audit', permission: 'org:read', load: () => import('./CompanyAudit') },
  ],
} satisfies Feature;
