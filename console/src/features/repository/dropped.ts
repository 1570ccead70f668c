/** What was dropped: files, and folders with everything in them. */
export interface Dropped {
  file: File;
  /** From the dropped folder down; the name alone for a file. */
  path: string;
}

const entries = (reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> =>
  new Promise((resolve, reject) => reader.readEntries(resolve, reject));

async function inside(entry: FileSystemEntry, above: string): Promise<Dropped[]> {
  const path = above + entry.name;
  if (entry.isFile) {
    return [{ file: await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject)), path }];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const found: Dropped[] = [];
  // A reader gives a folder in portions, and an empty one at its end.
  for (let portion = await entries(reader); portion.length; portion = await entries(reader)) {
    for (const one of portion) found.push(...(await inside(one, `${path}/`)));
  }
  return found;
}

export async function droppedIn(data: DataTransfer): Promise<Dropped[]> {
  // Both must be read before the first wait: afterwards the browser has emptied the drop.
  const roots = [...data.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  const files = [...data.files].map((file) => ({ file, path: file.name }));
  return roots.some((entry) => entry.isDirectory) ? (await Promise.all(roots.map((entry) => inside(entry, '')))).flat() : files;
}
