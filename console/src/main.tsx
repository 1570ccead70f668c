import './styles.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { startWorker } from '@/api/worker';
import { landOn } from '@/app/landing';
import { LanguageProvider } from '@/i18n/language';
import { makeQueries } from '@/app/queries';
import { loadInside, makeRouter } from '@/app/router';
import { watchSession } from '@/app/sessionWatcher';
import { firstCatalog, keepWhole } from '@/i18n/catalog';

async function start(): Promise<void> {
  landOn(location.pathname);
  if (window.atrium.identity) loadInside();
  const catalog = await firstCatalog();
  const queries = makeQueries();
  const router = makeRouter(queries);
  watchSession(queries, router);
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

function keepForNextVisit(): void {
  startWorker();
  keepWhole().catch(() => undefined);
}

start().catch(window.atrium.stuck);
// Keeps the console's own files and words, so that the next visit needs none of them. After everything the first screen needs.
addEventListener('load', () => setTimeout(keepForNextVisit, 1000));
