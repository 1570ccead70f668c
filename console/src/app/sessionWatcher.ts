/** Watches the session: when the server ends it, or another tab does, people land on sign-in and come back to where they were. */
import type { QueryClient } from '@tanstack/react-query';
import { hearServer } from '@/api/client';
import { identityQuery } from '@/api/queries';
import { SIGNED_IN, signedIn } from '@/api/signed-in';
import type { makeRouter } from './router';

type Router = ReturnType<typeof makeRouter>;

export function watchSession(queries: QueryClient, router: Router): void {
  const leave = (reason: 'ended' | undefined) => {
    const here = router.state.location.href;
    if (here.startsWith('/sign-in')) return;
    const search = { ...(reason ? { reason } : {}), ...(here === '/' ? {} : { to: here }) };
    void router.navigate({ to: '/sign-in', search, replace: true }).then(() => queries.clear());
  };
  hearServer((heard) => {
    if (heard === 'ended') {
      signedIn.clear();
      leave('ended');
    }
    if (heard === 'suspended') void queries.invalidateQueries(identityQuery);
  });
  let known = signedIn.mark();
  addEventListener('storage', (event) => {
    if (event.key !== SIGNED_IN || event.newValue === known) return;
    known = event.newValue;
    queries.clear();
    if (event.newValue === null) leave(undefined);
    else location.reload();
  });
}
