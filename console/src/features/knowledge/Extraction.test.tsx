import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRootRoute, createRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import { Tooltip } from 'radix-ui';
import { identityQuery } from '@/api/queries';
import { LanguageProvider } from '@/i18n/language';
import { ExtractNow } from './Extraction';

vi.hoisted(() => {
  globalThis.fetch = () => Promise.resolve(Response.json({ code: 'workflows.review', status: 409 }, { status: 409 }));
});

const ME = { user: { id: 'me' }, org: {}, team: {}, permissions: ['workflows:run', 'workflows:write'], operator: false };

function show() {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  queries.setQueryData(identityQuery.queryKey, ME as never);
  const root = createRootRoute();
  const routes = ['/', '/workflows/$slug/start'].map((path) =>
    createRoute({ getParentRoute: () => root, path, component: () => (path === '/' ? <ExtractNow onStart={() => undefined} /> : null) }));
  const router = createRouter({ routeTree: root.addChildren(routes), history: createMemoryHistory({ initialEntries: ['/'] }) });
  render(
    <QueryClientProvider client={queries}>
      <LanguageProvider first={{ locale: 'en', messages: {} }}>
        <Tooltip.Provider><RouterProvider router={router as never} /></Tooltip.Provider>
      </LanguageProvider>
    </QueryClientProvider>,
  );
  return router;
}

test('reading documents leads to the start dialog of a version that is to be looked at', async () => {
  const router = show();

  fireEvent.click(await screen.findByRole('button'));

  await waitFor(() => expect(router.state.location.pathname).toBe('/workflows/index-knowledge/start'));
});
