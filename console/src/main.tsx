import './styles.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { landOn } from '@/app/landing';
import { LanguageProvider, type Catalog } from '@/app/language';
import { makeQueries } from '@/app/queries';
import { makeRouter } from '@/app/router';
import { keepSession } from '@/app/keeper';

async function start(): Promise<void> {
  landOn(location.pathname);
  const answer = await window.atrium.catalog;
  const catalog = (await answer.json()) as Catalog;
  const queries = makeQueries();
  const router = makeRouter(queries);
  keepSession(queries, router);
  createRoot(document.getElementById('root')!).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <LanguageProvider first={catalog}>
          <RouterProvider router={router} />
        </LanguageProvider>
      </QueryClientProvider>
    </StrictMode>,
  );
}

void start();
