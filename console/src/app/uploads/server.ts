/** How files reach the server: small ones in one XMLHttpRequest, because only that tells how much was sent; large ones in parts. */
import { Refusal, refusalOf } from '@/api/refusal';
import { findAt, pathOf, type StoredObject } from '@/api/repository';
import type { Multipart } from './multipart';
import { isLarge, type Server } from './uploads';

const putWhole: Server['put'] = (upload, condition, onSent, signal) =>
  new Promise<StoredObject>((resolve, reject) => {
    const request = new XMLHttpRequest();
    onSent(0);
    request.open(
      'PUT',
      `${pathOf(upload.key)}?${new URLSearchParams({ filename: upload.file.name, ...('If-None-Match' in condition ? { visibility: upload.visibility } : {}) })}`,
    );
    request.setRequestHeader('content-type', upload.file.type || 'application/octet-stream');
    for (const [name, text] of Object.entries(condition)) request.setRequestHeader(name, text);
    request.upload.onprogress = (event) => onSent(event.loaded);
    request.onload = () => {
      if (request.status < 300) resolve(JSON.parse(request.responseText) as StoredObject);
      else void refusalOf(new Response(request.responseText, { status: request.status })).then(reject);
    };
    request.onerror = request.ontimeout = () => reject(new Refusal(0, 'unreachable', ''));
    signal.addEventListener('abort', () => request.abort());
    request.send(upload.file);
  });

/** What sends in parts is loaded with the first large file; without a connection it fails as the upload would. */
async function partsOf(team: string): Promise<Multipart> {
  const { Multipart } = await import('./multipart').catch(() => {
    throw new Refusal(0, 'unreachable', '');
  });
  return new Multipart(team);
}

export function serverFor(team: string, user: string): Server {
  let loading: Promise<Multipart> | null = null;
  const parts = () => (loading ??= partsOf(team).catch((error: unknown) => { loading = null; throw error; }));
  return {
    find: (key) => findAt(key, team),
    isOwn: (object) => object.version.created_by === user,
    put: (upload, ...rest) => (isLarge(upload.file) ? parts().then((large) => large.put(upload, ...rest)) : putWhole(upload, ...rest)),
    drop: (upload) => void loading?.then((large) => large.drop(upload), () => undefined),
  };
}
