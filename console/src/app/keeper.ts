/** Watches the session: when the server ends it, or another tab does, people land on sign-in and come back to where they were. */
import type { QueryClient } from '@tanstack/react-query';
import { hearServer } from '@/api/client';
import { credential } from '@/api/credential';
import { identityQuery } from '@/api/queries';
import type { makeRouter } from './router';

type Router = ReturnType<typeof makeRouter>;

export function keepSession(queries: QueryClient, router: Router): void {
  const leave = (reason: 'ended' | undefined) => {
    const here = router.state.location.href;
    if (here.startsWith('/sign-in')) return;
    const search = { ...(reason ? { reason } : {}), ...(here === '/' ? {} : { to: here }) };
    void router.navigate({ to: '/sign-in', search, replace: true }).then(() => queries.clear());
  };
  hearServer((heard) => {
    if (heard === 'ended') {
      credential.clear();
      leave('ended');
    }
    if (heard === 'suspended') void queries.invalidateQueries(identityQuery);
  });
  let known = credential.get();
  addEventListener('storage', (event) => {
    if (event.key !== 'atrium.session' || event.newValue === known) return;
    known = event.newValue;
    queries.clear();
    if (event.newValue === null) leave(undefined);
    else location.reload();
  });
}
