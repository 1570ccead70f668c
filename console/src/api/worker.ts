/** The service worker, which keeps the console's own files. Only on HTTPS and on this machine: elsewhere there is none. */
const WORKER = '/sw.js';
/** The page may load no script by its name but this one. */
const policy = window.trustedTypes?.createPolicy('console', { createScriptURL: () => WORKER });

/** Let it begin, when there is time; without it every file is fetched. */
export function startWorker(): void {
  if ('serviceWorker' in navigator) {
    navigator.serviceWorker.register((policy?.createScriptURL('') ?? WORKER) as string).catch(() => undefined);
  }
}
