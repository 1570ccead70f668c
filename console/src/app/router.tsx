/** Addresses live behind the `#`: the server knows only the console's one page. */
import type { QueryClient } from '@tanstack/react-query';
import {
  createHashHistory,
  createRootRouteWithContext,
  createRoute,
  createRouter,
  Outlet,
  redirect,
  type AnyRoute,
  type AnyRouter,
  type ParsedLocation,
  type RouteComponent,
} from '@tanstack/react-router';
import { signedIn } from '@/api/signed-in';
import { loadNamespaces } from '@/i18n/catalog';
import { ENTRY, FRAME } from '@/i18n/namespaces';
import { Broken } from './Broken';
import type { PageRoute } from './feature';
import { CodeMissing, lazily } from './lazily';
import { permitted } from './permitted';

interface RouterContext {
  queries: QueryClient;
}

/** What people see before they sign in, at hand from the start. */
const OUTSIDE = Object.values(import.meta.glob<{ default: PageRoute[] }>('../features/*/outside.ts', { eager: true })).flatMap(
  (module) => module.default,
);

/** Code and the words it shows, side by side. */
const withWords = async <Found,>(words: string[], load: () => Promise<Found>): Promise<Found> =>
  (await Promise.all([load(), loadNamespaces(words)]))[0];

const Shell = lazily(() => withWords(FRAME, () => import('./Shell')));
const loadPages = () => import('./pages');

function requireSession(location: ParsedLocation): void {
  if (signedIn.mark()) return;
  if (window.atrium.facts.needs_bootstrap) throw redirect({ to: '/first-run' });
  throw redirect({ to: '/sign-in', search: location.href === '/' ? {} : { to: location.href } });
}

function routeOf(parent: AnyRoute, page: PageRoute): AnyRoute {
  const component = lazily(() => withWords(page.words ?? [], page.load)) as RouteComponent;
  const route: AnyRoute = createRoute({
    getParentRoute: () => parent,
    path: page.path,
    component: page.permission ? permitted(page.permission, component) : component,
  });
  return page.children ? route.addChildren(page.children.map((child) => routeOf(route, child))) : route;
}

function insideOf(root: AnyRoute, pages: PageRoute[]): AnyRoute {
  const shell = createRoute({
    getParentRoute: () => root,
    id: 'shell',
    beforeLoad: ({ location }) => requireSession(location),
    component: Shell as RouteComponent,
  });
  return shell.addChildren(pages.map((page) => routeOf(shell, page)));
}

/** Stands for every page behind sign-in until their addresses are loaded, then makes way for them. */
function gateOf(root: AnyRoute, open: (pages: PageRoute[]) => void): AnyRoute {
  return createRoute({
    getParentRoute: () => root,
    path: '$',
    beforeLoad: async ({ location }) => {
      requireSession(location);
      const { PAGES } = await loadPages().catch((cause: unknown) => {
        throw new CodeMissing(() => loadPages().then(() => true, () => false), cause);
      });
      open(PAGES);
      throw redirect({ href: location.href, replace: true });
    },
  });
}

/** A tree of its own each time: the router takes a new one only when its root is another. */
function treeWith(rest: (root: AnyRoute) => AnyRoute): AnyRoute {
  const root: AnyRoute = createRootRouteWithContext<RouterContext>()({ component: Outlet });
  return root.addChildren([...OUTSIDE.map((page) => routeOf(root, { ...page, words: ENTRY })), rest(root)]);
}

export function makeRouter(queries: QueryClient): AnyRouter {
  const open = (pages: PageRoute[]) => router.update({ ...router.options, routeTree: treeWith((root) => insideOf(root, pages)) });
  const router: AnyRouter = createRouter({
    routeTree: treeWith((root) => gateOf(root, open)),
    history: createHashHistory(),
    context: { queries },
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    defaultPendingMs: 200,
    defaultNotFoundComponent: lazily(() => import('./Lost')) as RouteComponent,
    defaultErrorComponent: Broken,
    scrollRestoration: true,
  });
  return router;
}

/** Somebody who is signed in will need these: ask for them before anything else is done. */
export function loadInside(): void {
  loadPages().catch(() => undefined);
  void Shell.preload();
}
