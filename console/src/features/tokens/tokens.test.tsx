/** What a token may give: asked about before it is made, told when it is revoked. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRootRoute, createRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import { Tooltip } from 'radix-ui';
import type { ReactNode } from 'react';
import { identityQuery } from '@/api/queries';
import { LanguageProvider } from '@/i18n/language';
import NewToken from './NewToken';
import TokensPage from './TokensPage';
import app from '../../../../locales/en/app.json';
import members from '../../../../locales/en/members.json';
import tokens from '../../../../locales/en/tokens.json';

// The client keeps the one that there is when it is loaded.
const server = vi.hoisted(() => {
  const found = { answer: null as unknown as (request: Request) => Promise<Response> };
  globalThis.fetch = (request) => found.answer(request as Request);
  return found;
});
const TOKEN = {
  id: 't1', name: 'People sync', user_id: 'me', username: 'ada', scope: null, created_at: '2026-01-01T00:00:00Z', last_used_at: null,
  expires_at: null,
};
const gift = (kind: string, name: string, role: string | null = null, org_role: string | null = null) => ({
  at: '2026-01-02T00:00:00Z', kind, subject: `${kind} ${name} ${org_role}`, name, role, org_role,
});
const GAVE = [
  gift('companies.role_set', 'Bob'),
  gift('companies.role_set', 'Bob', null, 'org_owner'),
  gift('identity.role_changed', 'Bob', 'admin'),
  gift('companies.person_added', 'Cleo', 'member', 'org_admin'),
  gift('s3.key_issued', 'Nightly'),
];

let sent: { method: string; path: string; body: unknown }[];
let gave: unknown;

async function answer(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (request.method !== 'GET') sent.push({ method: request.method, path: pathname, body: await request.json().catch(() => null) });
  if (request.method === 'DELETE') return Response.json({ id: 't1', ...(gave ? { gave } : {}) });
  if (request.method === 'POST') return Response.json({ ...TOKEN, token: 'secret' }, { status: 201 });
  return Response.json({ items: [TOKEN], next_cursor: null });
}

function show(page: ReactNode, permissions: string[]) {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const me = { user: { id: 'me', username: 'ada' }, org: {}, team: {}, permissions, idle_permissions: [], operator: false };
  queries.setQueryData(identityQuery.queryKey, me as never);
  const root = createRootRoute();
  const routes = ['/', '/settings/tokens', '/settings/tokens/new'].map((path) =>
    createRoute({ getParentRoute: () => root, path, component: () => (path === '/' ? page : null) }));
  const router = createRouter({ routeTree: root.addChildren(routes), history: createMemoryHistory({ initialEntries: ['/'] }) });
  const named = (space: string, catalog: Record<string, string>) =>
    Object.entries(catalog).map(([name, text]) => [`${space}.${name}`, text]);
  const messages = Object.fromEntries([...named('tokens', tokens), ...named('members', members), ...named('app', app)]);
  render(
    <QueryClientProvider client={queries}>
      <LanguageProvider first={{ locale: 'en', messages }}>
        <Tooltip.Provider><RouterProvider router={router as never} /></Tooltip.Provider>
      </LanguageProvider>
    </QueryClientProvider>,
  );
}

/** A name, the password, and full access where that is asked for. */
async function fillIn({ all }: { all: boolean }) {
  fireEvent.change(await screen.findByLabelText(tokens.name), { target: { value: 'People sync' } });
  fireEvent.change(document.querySelector('input[name=own_password]')!, { target: { value: 'password of ada' } });
  if (all) fireEvent.click(screen.getByRole('radio', { name: new RegExp(tokens.scope_all) }));
  fireEvent.click(screen.getByRole('button', { name: tokens.create }));
}

beforeEach(() => void ([sent, gave, server.answer] = [[], null, answer]));

test('G16: a token that manages the company is made after it was said what it can do', async () => {
  show(<NewToken />, ['notes:read', 'org:manage']);

  await fillIn({ all: true });

  const asked = await screen.findByRole('dialog', { name: tokens.manages_title });
  expect(asked).toHaveTextContent(tokens.manages_body);
  expect(sent).toEqual([]);
  fireEvent.click(within(asked).getByRole('button', { name: tokens.create }));
  await waitFor(() => expect(sent).toHaveLength(1));
  expect(sent[0]!.body).toMatchObject({ name: 'People sync', scope: null });
});

test('G16: a token that only reads is made at once', async () => {
  show(<NewToken />, ['notes:read', 'org:manage']);

  await fillIn({ all: false });

  await waitFor(() => expect(sent).toHaveLength(1));
  expect(sent[0]!.body).toMatchObject({ scope: ['notes:read'] });
});

async function revoke() {
  show(<TokensPage />, ['settings:manage']);
  fireEvent.click(await screen.findByRole('button', { name: 'Revoke People sync' }));
  fireEvent.click(await screen.findByRole('button', { name: tokens.revoke }));
  await waitFor(() => expect(sent).toEqual([{ method: 'DELETE', path: '/api/tokens/t1', body: null }]));
}

test('G16: what a token gave is listed once it is revoked', async () => {
  gave = GAVE;

  await revoke();

  const rows = await screen.findAllByTestId('gave');
  expect(rows.map((row) => row.firstChild!.textContent)).toEqual([
    'Took their role in the company from Bob',
    'Gave Bob a role: Company owner',
    'Gave Bob a role: Admin',
    'Added Cleo: Member, Company admin',
    'Created the S3 key “Nightly”',
  ]);
});

test('G16: a token that gave nothing is revoked without a list', async () => {
  await revoke();

  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
});
