/** Keys as people see them: folders and names. */
import { DELIMITER } from '@/api/repository';

/** The last part of a key or of a folder. */
export const nameIn = (key: string): string => key.replace(/\/+$/, '').split(DELIMITER).at(-1) || key;

/** Where a key lies, with its last `/`; nothing at the top. */
export const folderOf = (key: string): string => key.slice(0, key.lastIndexOf(DELIMITER) + 1);

/** Every folder from the top down to this one. */
export function trailOf(folder: string): { name: string; folder: string }[] {
  const names = folder.split(DELIMITER).slice(0, -1);
  return names.map((name, at) => ({ name, folder: names.slice(0, at + 1).join(DELIMITER) + DELIMITER }));
}

/** A folder somebody typed, made whole; nothing when there is no name in it. */
export function folderNamed(parent: string, typed: string): string | null {
  const parts = typed.split(DELIMITER).map((part) => part.trim()).filter(Boolean);
  return parts.length ? parent + parts.join(DELIMITER) + DELIMITER : null;
}
