/** Whether the server still serves the build this page runs; files of an earlier build are gone after an upgrade. */
export type Build = 'same' | 'newer' | 'unreachable';

const ENTRY = /<script type="module"[^>]* src="([^"]+)"/;
const RELOADED = 'atrium.reloaded';
/** Two builds behind one address would otherwise send a page back and forth. */
const ONCE_IN = 5 * 60_000;

export async function buildServed(): Promise<Build> {
  const page = await fetch('/', { cache: 'no-store' }).catch(() => null);
  if (!page?.ok) return 'unreachable';
  const served = ENTRY.exec(await page.text())?.[1];
  const running = document.querySelector('script[type=module]')?.getAttribute('src');
  return served === running ? 'same' : 'newer';
}

/** Load the newer build, unless this tab has just done so: then whoever looks at it decides. */
export function reloadOnce(now = Date.now()): boolean {
  if (now - Number(sessionStorage.getItem(RELOADED) ?? 0) < ONCE_IN) return false;
  sessionStorage.setItem(RELOADED, String(now));
  location.reload();
  return true;
}
