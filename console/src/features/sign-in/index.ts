import type { Feature } from '@/app/feature';

/** Ways in: first run, sign-in, a new member's first visit, activation. */
export default {
  pages: [],
  outside: [
    { path: '/sign-in', load: () => import('./SignIn') },
    { path: '/first-run', load: () => import('./FirstRun') },
    { path: '/join', load: () => import('./Join') },
    { path: '/activate', load: () => import('./Activate') },
  ],
} satisfies Feature;
