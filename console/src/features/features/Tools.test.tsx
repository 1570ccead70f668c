/** What is shown and sent when a tool is turned on. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import { Tooltip } from 'radix-ui';
import { identityQuery } from '@/api/queries';
import { LanguageProvider } from '@/i18n/language';
import { Tools } from './Tools';
import catalog from '../../../../locales/en/features.json';

// The client keeps the one that there is when it is loaded.
const server = vi.hoisted(() => {
  const found = { answer: null as unknown as (request: Request) => Promise<Response> };
  globalThis.fetch = (request) => found.answer(request as Request);
  return found;
});
const ME = { user: { id: 'me' }, org: {}, team: {}, permissions: ['settings:manage'], operator: false };
const tool = (name: string, source: string, digest: string | null) => ({
  name, source, digest, description: `${name} tells the tide.`,
  parameters: { type: 'object', properties: { port: { description: 'Which port.' } } },
  permission: 'chat:use', effect: 'egress', untrusted: true, enabled: false, changed: false,
  pinned: null, switched_by: null, switched_at: null,
});

let sent: { path: string; body: unknown }[];

async function answer(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (request.method === 'POST') sent.push({ path: pathname, body: await request.json() });
  return Response.json({ items: [tool('mcp_far_tides', 'mcp:far', 'd1'), tool('notes_list', 'core', null)], next_cursor: null });
}

function show() {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  queries.setQueryData(identityQuery.queryKey, ME as never);
  const messages = Object.fromEntries(Object.entries(catalog).map(([name, text]) => [`features.${name}`, text]));
  render(
    <QueryClientProvider client={queries}>
      <LanguageProvider first={{ locale: 'en', messages }}>
        <Tooltip.Provider><Tools locked={false} /></Tooltip.Provider>
      </LanguageProvider>
    </QueryClientProvider>,
  );
}

const press = async (name: string) => fireEvent.click(await screen.findByRole('switch', { name }));

beforeEach(() => void ([sent, server.answer] = [[], answer]));

test('E18: all that models read of another program’s tool is shown, with a warning, before it is turned on', async () => {
  show();

  await press('mcp_far_tides');

  const dialog = await screen.findByRole('dialog');
  for (const words of [catalog.turn_on_warning, 'mcp_far_tides tells the tide.', 'Which port.']) expect(dialog).toHaveTextContent(words);
  expect(sent).toEqual([]);
  fireEvent.click(screen.getByRole('button', { name: catalog.turn_on }));
  await waitFor(() => expect(sent).toEqual([{ path: '/api/tools/mcp_far_tides', body: { enabled: true, digest: 'd1' } }]));
});

test('E18: a tool that was read stays off when it is left off', async () => {
  show();

  await press('mcp_far_tides');
  fireEvent.click(await screen.findByRole('button', { name: catalog.leave_off }));

  expect(screen.queryByRole('dialog')).toBeNull();
  expect(sent).toEqual([]);
});

test('a tool of the server itself is turned on at once', async () => {
  show();

  await press('notes_list');

  await waitFor(() => expect(sent).toEqual([{ path: '/api/tools/notes_list', body: { enabled: true, digest: null } }]));
});
