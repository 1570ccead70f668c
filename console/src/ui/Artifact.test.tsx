import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { render, screen } from '@testing-library/react';
import { LanguageProvider } from '@/i18n/language';
import { Artifact, type ArtifactFacts } from './Artifact';

function show(artifact: ArtifactFacts) {
  const rootRoute = createRootRoute({ component: () => <Artifact artifact={artifact} /> });
  const router = createRouter({ routeTree: rootRoute, history: createMemoryHistory() });
  render(
    <LanguageProvider first={{ locale: 'en', messages: { 'ui.open_file': 'Open file', 'ui.open': 'Open' } }}>
      <RouterProvider router={router as never} />
    </LanguageProvider>,
  );
}

test('says what a tool made, and leads to the file it wrote', async () => {
  show({ kind: 'table', title: 'Arrivals', summary: 'Twelve ships until Friday', content_type: 'text/csv', object_id: 'o1' });

  const card = await screen.findByRole('article', { name: 'Arrivals' });
  expect(card).toHaveTextContent('Twelve ships until Friday');
  expect(card).toHaveTextContent('text/csv');
  expect(screen.getByRole('link', { name: 'Open file' })).toHaveAttribute('href', '/files/o1');
});

test.each([
  ['note', '/notes/n1'],
  ['document', '/documents/n1'],
  ['entity', '/knowledge/n1'],
  ['run', '/runs/n1'],
])('P8: opens the %s that a tool made', async (kind, href) => {
  show({ kind: 'text', title: 'Check invoice 2044', ref: { kind, id: 'n1' } });

  expect(await screen.findByRole('link', { name: 'Open' })).toHaveAttribute('href', href);
});

test('opens nothing that a program only calls a reference', async () => {
  show({ kind: 'text', title: 'Odd', ref: { kind: 'constructor', id: 'n1' } });

  await screen.findByRole('article', { name: 'Odd' });
  expect(screen.queryByRole('link')).toBeNull();
});

test('is no link without a file, and shows what it is given as text', async () => {
  show({ kind: 'x.custom', title: '<b>bold</b>' });

  expect(await screen.findByRole('article', { name: '<b>bold</b>' })).toHaveTextContent('x.custom');
  expect(screen.queryByRole('link')).toBeNull();
});
