/** What is shown and sent before a version runs that somebody else may have published. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRootRoute, createRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import { Tooltip } from 'radix-ui';
import type { ReactNode } from 'react';
import { identityQuery } from '@/api/queries';
import { LanguageProvider } from '@/i18n/language';
import Resume from './Resume';
import StartRun from './StartRun';
import { TriggerForm } from './TriggerForm';
import TriggerPage from './TriggerPage';
import catalog from '../../../../locales/en/triggers.json';

// The client keeps the one that there is when it is loaded.
const server = vi.hoisted(() => {
  const found = { answer: null as unknown as (request: Request) => Promise<Response> };
  globalThis.fetch = (request) => found.answer(request as Request);
  return found;
});
const REACH = { tools: [{ name: 'far_send', effect: 'egress', permission: 'chat:use' }], egress: true };
const version = (created_by: string, number: number) => ({
  slug: 'scan', version: number, title: 'Scan', description: '', source: 'team', inputs: {}, spec: {}, created_by, created_at: '',
  digest: `digest-${number}`, reach: REACH, accepted: false, versions: [], upstream: null,
});
const RUN = { id: 'r1', workflow: { slug: 'scan', version: 1 } };
const ME = { user: { id: 'me' }, org: {}, team: {}, permissions: ['workflows:run', 'workflows:write'], operator: false };
const MEMBERS = { items: [{ id: 'carol', username: 'carol', display_name: 'Carol' }], next_cursor: null };
const TRIGGER = {
  id: 't1', name: 'Scans', workflow_slug: 'scan', match_prefix: '', match_types: [], input: {}, fire_on_derived: false, enabled: true,
  created_by: 'me', created_at: '', maker_id: 'carol', egress_digest: 'digest-1', allow_egress: true, last_fire: null, fired_24h: 0,
  skipped_24h: 0, fires: { items: [], next_cursor: null },
};

/** What was sent, by path. */
let sent: { path: string; body: unknown }[];
let publisher: string;

async function answer(request: Request): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  if (request.method === 'POST') sent.push({ path: pathname, body: await request.json().catch(() => null) });
  const told = {
    '/api/members': MEMBERS,
    '/api/workflows': { items: [version(publisher, 2)], next_cursor: null },
    '/api/workflows/scan': version(publisher, Number(searchParams.get('version') ?? 2)),
    '/api/workflows/scan/run': { id: 'r2' },
    '/api/doc-triggers/t1': TRIGGER,
  }[pathname];
  if (told) return Response.json(told, { headers: { etag: '"1"' } });
  return Response.json({ code: 'workflows.review', status: 409 }, { status: 409 });
}

function show(page: ReactNode, at = '/') {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  queries.setQueryData(identityQuery.queryKey, ME as never);
  const root = createRootRoute();
  const paths = ['/', '/workflows/$slug/start', '/triggers/$id', '/runs/$id'];
  const first = paths.find((path) => new RegExp(`^${path.replace(/\$\w+/g, '[^/]+')}$`).test(at));
  const routes = paths.map((path) => createRoute({ getParentRoute: () => root, path, component: () => (path === first ? page : null) }));
  const router = createRouter({ routeTree: root.addChildren(routes), history: createMemoryHistory({ initialEntries: [at] }) });
  const messages = Object.fromEntries(Object.entries(catalog).map(([name, text]) => [`triggers.${name}`, text]));
  render(
    <QueryClientProvider client={queries}>
      <LanguageProvider first={{ locale: 'en', messages }}>
        <Tooltip.Provider><RouterProvider router={router as never} /></Tooltip.Provider>
      </LanguageProvider>
    </QueryClientProvider>,
  );
  return router;
}

const submit = () => document.querySelector<HTMLButtonElement>('form button[type=submit]')!;

beforeEach(() => void ([sent, publisher, server.answer] = [[], 'carol', answer]));

test('starting one’s own version says which one was looked at', async () => {
  publisher = 'me';
  show(<StartRun />, '/workflows/scan/start');
  await waitFor(() => expect(submit()).toBeEnabled());

  fireEvent.click(submit());

  await waitFor(() => expect(sent).toEqual([{ path: '/api/workflows/scan/run', body: { input: {}, accept: 'digest-2' } }]));
  expect(screen.queryByTestId('reach')).toBeNull();
});

test('resuming on somebody else’s version shows what it may do, and says that it was looked at', async () => {
  show(<Resume run={RUN as never} at={{ step: 'send' }} onClose={() => undefined} />);
  expect(await screen.findByTestId('reach')).toHaveTextContent('far_send');

  fireEvent.click(submit());

  const body = { version: 2, resume: { run_id: 'r1', step: 'send' }, accept: 'digest-2' };
  await waitFor(() => expect(sent).toEqual([{ path: '/api/workflows/scan/run', body }]));
});

test('who may not allow sending sees whether it is allowed, why they may not, and what the steps do', async () => {
  const nothing = () => undefined;
  show(<TriggerForm id="t1" first={TRIGGER} action="Save" busy={false} error={null} onSubmit={nothing} onClose={nothing} />);

  const box = await screen.findByRole('checkbox', { name: new RegExp(catalog.egress) });
  expect(box).toBeChecked();
  expect(box).toBeDisabled();
  expect(screen.getByText(catalog.egress_admin)).toBeInTheDocument();
  expect(await screen.findByTestId('reach')).toHaveTextContent('far_send');
});

test('another workflow is not allowed to send what the last one was', async () => {
  const nothing = () => undefined;
  show(<TriggerForm id="t1" first={TRIGGER} action="Save" busy={false} error={null} onSubmit={nothing} onClose={nothing} />);

  fireEvent.change(await screen.findByLabelText(catalog.workflow), { target: { value: '' } });

  expect(screen.getByRole('checkbox', { name: new RegExp(catalog.egress) })).not.toBeChecked();
});

test('a trigger says who is responsible, and that its runs may send something elsewhere', async () => {
  show(<TriggerPage />, '/triggers/t1');

  expect(await screen.findByText('Responsible: Carol')).toBeInTheDocument();
  expect(screen.getByText(catalog.egress)).toBeInTheDocument();
});
