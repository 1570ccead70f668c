/** The service worker through which frames and downloads get the credential. Only on HTTPS and on this machine: elsewhere there is none. */
import { credential } from './credential';

const WORKER = '/sw.js';
/** The page may load no script by its name but this one. */
const policy = window.trustedTypes?.createPolicy('console', { createScriptURL: () => WORKER });
let starting: Promise<boolean> | null = null;

/** Whether the worker is at work, started on the first question. */
export function workerAtWork(): Promise<boolean> {
  starting ??= start().catch(() => false);
  return starting;
}

async function start(): Promise<boolean> {
  if (!('serviceWorker' in navigator)) return false;
  navigator.serviceWorker.addEventListener('message', (event) => {
    if (event.data === 'atrium.credential') event.ports[0]?.postMessage(credential.get());
  });
  navigator.serviceWorker.startMessages();
  const taken = new Promise((resolve) => navigator.serviceWorker.addEventListener('controllerchange', resolve, { once: true }));
  await navigator.serviceWorker.register((policy?.createScriptURL('') ?? WORKER) as string);
  if (!navigator.serviceWorker.controller) await taken;
  return true;
}
