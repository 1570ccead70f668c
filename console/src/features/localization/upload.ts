/** A file of a translator's program on its way to the server: it becomes an object below `l10n/in`, which an import then reads. */
import { Refusal, refusalOf } from '@/api/refusal';
import { pathOf, type StoredObject } from '@/api/repository';

const TYPES: Record<string, string> = {
  po: 'text/x-gettext-translation',
  xlf: 'application/xliff+xml',
  xliff: 'application/xliff+xml',
  arb: 'application/json',
  json: 'application/json',
};

/** By how its name ends; null for what no import reads. */
export const contentTypeOf = ({ name }: { name: string }): string | null => TYPES[name.split('.').at(-1)!.toLowerCase()] ?? null;

export async function uploadCatalog(file: File): Promise<StoredObject> {
  const answer = await fetch(`${pathOf(`l10n/in/${file.name}`)}?visibility=team`, {
    method: 'PUT',
    headers: { 'content-type': contentTypeOf(file) ?? 'application/octet-stream' },
    body: file,
  }).catch(() => {
    throw new Refusal(0, 'unreachable', '');
  });
  if (!answer.ok) throw await refusalOf(answer);
  return (await answer.json()) as StoredObject;
}
