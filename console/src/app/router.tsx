/** Addresses live behind the `#`: the server knows only the console's one page. */
import type { QueryClient } from '@tanstack/react-query';
import { createHashHistory, createRootRouteWithContext, createRoute, createRouter, lazyRouteComponent, Outlet, redirect, type AnyRoute, type RouteComponent } from '@tanstack/react-router';
import { credential } from '@/api/credential';
import type { PageRoute } from './feature';
import { FEATURES } from './features';
import { permitted } from './permitted';

interface RouterContext {
  queries: QueryClient;
}

const root = createRootRouteWithContext<RouterContext>()({ component: Outlet });

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  beforeLoad: ({ location }) => {
    if (credential.get()) return;
    if (window.atrium.facts.needs_bootstrap) throw redirect({ to: '/first-run' });
    throw redirect({ to: '/sign-in', search: location.href === '/' ? {} : { to: location.href } });
  },
  component: lazyRouteComponent(() => import('./Shell')),
});

function routeOf(parent: AnyRoute, page: PageRoute): AnyRoute {
  const component: RouteComponent = lazyRouteComponent(page.load);
  const route: AnyRoute = createRoute({ getParentRoute: () => parent, path: page.path, component: page.permission ? permitted(page.permission, component) : component });
  return page.children ? route.addChildren(page.children.map((child) => routeOf(route, child))) : route;
}

export function makeRouter(queries: QueryClient) {
  const outside = FEATURES.flatMap((feature) => feature.outside ?? []).map((page) => routeOf(root, page));
  const inside = FEATURES.flatMap((feature) => feature.pages).map((page) => routeOf(shell, page));
  return createRouter({
    routeTree: root.addChildren([...outside, shell.addChildren(inside)]),
    history: createHashHistory(),
    context: { queries },
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    defaultPendingMs: 200,
    defaultNotFoundComponent: lazyRouteComponent(() => import('./Lost'), 'NotFound'),
    defaultErrorComponent: lazyRouteComponent(() => import('./Lost'), 'Broken'),
    scrollRestoration: true,
  });
}
