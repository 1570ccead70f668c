/** Folders as one file. */
import { nameIn } from './keys';

/** Saved to disk by the browser itself as an archive of what this person can read. */
export function downloadFolder(folder: string): void {
  const link = document.createElement('a');
  link.href = `/api/repo-zip?${new URLSearchParams({ prefix: folder })}`;
  link.download = `${nameIn(folder)}.zip`;
  link.click();
}
