import type { Feature } from '@/app/feature';

/** Two screens of one place: who signed up, and the form that they fill in. */
const [permission, load] = ['settings:manage', () => import('./screens')] as const;

export default {
  pages: [
    { path: '/settings/instance/sign-ups', permission, load },
    { path: '/settings/instance/sign-up-form', permission, load },
  ],
} satisfies Feature;
