import type { PageRoute } from '@/app/feature';

/** Ways in: first run, sign-in, a new member's first visit, a new password, activation. */
export default [
  { path: '/sign-in', load: () => import('./SignIn') },
  { path: '/first-run', load: () => import('./FirstRun') },
  { path: '/join', load: () => import('./Join') },
  { path: '/reset', load: () => import('./Reset') },
  { path: '/activate', load: () => import('./Activate') },
] satisfies PageRoute[];
