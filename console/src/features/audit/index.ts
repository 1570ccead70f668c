import type { Feature } from '@/app/feature';

export default {
  pages: [
    { path: '/audit', permission: 'settings:manage', load: () => import('./AuditPage') },
    { path: '/company/audit', permission: 'org:read', load: () => import('./CompanyAudit') },
  ],
} satisfies Feature;
