/** Before a note is given to somebody it is said what they can read. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import { Tooltip } from 'radix-ui';
import { identityQuery } from '@/api/queries';
import { LanguageProvider } from '@/i18n/language';
import ShareDialog from './ShareDialog';

vi.hoisted(() => {
  globalThis.fetch = () => Promise.resolve(Response.json({ items: [], next_cursor: null }));
});

const NOTE = { id: 'n1', title: 'Berths', visibility: 'private', owner_id: 'me' };
const catalogs = import.meta.glob<{ default: Record<string, string> }>('../../../../locales/*/notes.json', { eager: true });

test.each(Object.entries(catalogs))('G13: older versions are read too, says %s', async (path, { default: catalog }) => {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  queries.setQueryData(identityQuery.queryKey, { user: { id: 'me' }, org: {}, team: {}, permissions: [], operator: false } as never);
  const messages = Object.fromEntries(Object.entries(catalog).map(([name, text]) => [`notes.${name}`, text]));
  render(
    <QueryClientProvider client={queries}>
      <LanguageProvider first={{ locale: path.split('/').at(-2)!, messages }}>
        <Tooltip.Provider><ShareDialog note={NOTE as never} onClose={() => undefined} /></Tooltip.Provider>
      </LanguageProvider>
    </QueryClientProvider>,
  );

  expect(await screen.findByText(catalog.share_versions!)).toBeVisible();
});
