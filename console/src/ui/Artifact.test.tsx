import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { render, screen } from '@testing-library/react';
import { LanguageProvider } from '@/i18n/language';
import { Artifact, type ArtifactFacts } from './Artifact';

function show(artifact: ArtifactFacts) {
  const rootRoute = createRootRoute({ component: () => <Artifact artifact={artifact} /> });
  const router = createRouter({ routeTree: rootRoute, history: createMemoryHistory() });
  render(
    <LanguageProvider first={{ locale: 'en', messages: { 'ui.open_file': 'Open file' } }}>
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

test('is no link without a file, and shows what it is given as text', async () => {
  show({ kind: 'x.custom', title: '<b>bold</b>' });

  expect(await screen.findByRole('article', { name: '<b>bold</b>' })).toHaveTextContent('x.custom');
  expect(screen.queryByRole('link')).toBeNull();
});
