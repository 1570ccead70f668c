/** An earlier version written once more on top: nothing in between is lost. */
import { refusalOf } from '@/api/refusal';
import { etagOf, pathOf, type ObjectDetail, type StoredObject, type Version } from '@/api/repository';
import { readBytes } from './download';

export async function restore(file: ObjectDetail, version: Version): Promise<StoredObject> {
  const body = await readBytes(file.id, version.number);
  const answer = await fetch(`${pathOf(file.key)}?${new URLSearchParams({ filename: version.filename })}`, {
    method: 'PUT',
    headers: { 'content-type': version.content_type, 'if-match': etagOf(file) },
    body,
  });
  if (!answer.ok) throw await refusalOf(answer);
  return (await answer.json()) as StoredObject;
}
