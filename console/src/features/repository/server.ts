/** How files reach the server: small ones in one piece, by a request of the old kind, because only it tells how much was sent; large ones in parts. */
import { credential } from '@/api/credential';
import { Refusal, refusalOf } from '@/api/refusal';
import { findAt, type StoredObject } from '@/api/repository';
import { pathOf } from './keys';
import { Multipart } from './multipart';
import { isLarge, type Server } from './uploads';

const putWhole: Server['put'] = (upload, condition, onSent, signal) =>
  new Promise<StoredObject>((resolve, reject) => {
    const request = new XMLHttpRequest();
    onSent(0);
    request.open('PUT', `${pathOf(upload.key)}?${new URLSearchParams({ filename: upload.file.name, ...(('If-None-Match' in condition) ? { visibility: upload.visibility } : {}) })}`);
    request.setRequestHeader('authorization', `Bearer ${credential.get()}`);
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

export function serverFor(team: string, user: string): Server {
  const parts = new Multipart(team);
  return {
    find: (key) => findAt(key, team),
    isOwn: (object) => object.version.created_by === user,
    put: (upload, ...rest) => (isLarge(upload.file) ? parts.put(upload, ...rest) : putWhole(upload, ...rest)),
    drop: (upload) => parts.drop(upload),
  };
}
