/** A large file in parts over the S3 protocol: what the server has acknowledged is never sent again. */
import { api, value } from '@/api/client';
import { Refusal } from '@/api/refusal';
import { encodedKey, findAt, type StoredObject } from '@/api/repository';
import type { Server, Upload } from './uploads';

const PART = 8 * 1024 * 1024;
const MOST_PARTS = 10_000;

/** What S3 calls a refusal, in the words the console has for it; the others are told by their status. */
const CODES: Readonly<Record<string, string>> = {
  AccountProblem: 'tenancy.suspended',
  KeyTooLongError: 'repository.bad_key',
  QuotaExceeded: 'quotas.exceeded',
  RequestTimeout: 'repository.stalled',
};

interface Opened {
  readonly path: string;
  readonly id: string;
  /** The ETags of the parts that are there, by number. */
  readonly parts: Map<number, string>;
}

export class Multipart {
  private readonly opened = new Map<number, Opened>();

  constructor(private readonly team: string) {}

  put: Server['put'] = async (upload, condition, onSent, signal) => {
    const isNew = 'If-None-Match' in condition;
    const open = (await this.resume(upload, signal)) ?? (await this.open(upload, signal));
    await this.sendMissing(upload, open, onSent, signal);
    await send('POST', `${open.path}?uploadId=${open.id}`, { signal, body: manifestOf(open.parts), ...(isNew && { headers: condition }) });
    const object = await this.reveal(upload, isNew);
    this.opened.delete(upload.id);
    return object;
  };

  /** Give up: the server forgets the parts it has. */
  drop(upload: Upload): void {
    const open = this.opened.get(upload.id);
    this.opened.delete(upload.id);
    if (open) void abandon(open);
  }

  private async open({ id, key, file }: Upload, signal: AbortSignal): Promise<Opened> {
    const { bucket } = await value(api.GET('/api/s3/credentials'));
    const path = `/s3/${encodeURIComponent(bucket)}/${encodedKey(key)}`;
    const begun = await send('POST', `${path}?uploads`, { headers: { 'content-type': file.type || 'application/octet-stream' } });
    const open = { path, id: textOf(begun.text, 'UploadId'), parts: new Map<number, string>() };
    if (signal.aborted) void abandon(open);
    else this.opened.set(id, open);
    return open;
  }

  /** What was begun before, with the parts that arrived; nothing when the server does not know it any more. */
  private async resume(upload: Upload, signal: AbortSignal): Promise<Opened | null> {
    const open = this.opened.get(upload.id);
    // Completing once more tells what the first time made, while its parts can no longer be listed.
    if (!open || open.parts.size === countOf(upload.file)) return open ?? null;
    try {
      await listParts(open, signal);
      return open;
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== 404) throw error;
      this.opened.delete(upload.id);
      return null;
    }
  }

  private async sendMissing({ file }: Upload, open: Opened, onSent: (bytes: number) => void, signal: AbortSignal): Promise<void> {
    const size = partSizeOf(file);
    for (let number = 1; number <= countOf(file); number++) {
      onSent(acknowledged(file, open));
      if (open.parts.has(number)) continue;
      const body = file.slice((number - 1) * size, number * size);
      const { etag } = await send('PUT', `${open.path}?partNumber=${number}&uploadId=${open.id}`, { body, signal });
      open.parts.set(number, etag);
    }
    onSent(file.size);
  }

  /** The finished object, seen by whom the person chose: S3 itself knows only private ones. */
  private async reveal({ key, visibility }: Upload, isNew: boolean): Promise<StoredObject> {
    const object = await findAt(key, this.team);
    if (!object) throw new Refusal(404, 'repository.missing', '');
    if (!isNew || object.visibility === visibility) return object;
    await value(api.POST('/api/repo-obj/{id}/visibility', { params: { path: { id: object.id } }, body: { visibility } }));
    return { ...object, visibility };
  }
}

const partSizeOf = (file: File): number => Math.max(PART, Math.ceil(file.size / MOST_PARTS));
const countOf = (file: File): number => Math.ceil(file.size / partSizeOf(file));

function acknowledged(file: File, { parts }: Opened): number {
  const whole = parts.size * partSizeOf(file);
  return Math.min(whole, file.size);
}

async function listParts(open: Opened, signal: AbortSignal): Promise<void> {
  let marker = '0';
  for (let more = true; more; ) {
    const { text } = await send('GET', `${open.path}?uploadId=${open.id}&part-number-marker=${marker}`, { signal });
    for (const [, part] of text.matchAll(/<Part>(.*?)<\/Part>/gs)) {
      open.parts.set(Number(textOf(part ?? '', 'PartNumber')), textOf(part ?? '', 'ETag'));
    }
    marker = textOf(text, 'NextPartNumberMarker');
    more = textOf(text, 'IsTruncated') === 'true';
  }
}

/** Nobody waits for it: what is left behind when this fails too, the server sweeps away. */
const abandon = ({ path, id }: Opened): Promise<unknown> => send('DELETE', `${path}?uploadId=${id}`).catch(() => undefined);

async function send(
  method: string,
  path: string,
  { headers, body, signal }: { headers?: Record<string, string>; body?: BodyInit; signal?: AbortSignal } = {},
): Promise<{ text: string; etag: string }> {
  const request: RequestInit = { method, headers: headers ?? {}, body: body ?? null, signal: signal ?? null };
  const answer = await fetch(path, request).then(async (response) => ({ response, text: await response.text() })).catch(() => {
    throw new Refusal(0, 'unreachable', '');
  });
  // A late completion has begun its answer before it failed.
  const { response, text } = answer;
  if (!response.ok || text.includes('<Error>')) throw refused(response, text);
  return { text, etag: response.headers.get('etag') ?? '' };
}

function refused({ status, ok, headers }: Response, text: string): Refusal {
  const name = textOf(text, 'Code');
  const told = ok ? (name === 'PreconditionFailed' ? 412 : name === 'InternalError' ? 503 : 400) : status;
  return new Refusal(told, CODES[name] ?? 'unknown', headers.get('x-request-id') ?? textOf(text, 'RequestId'));
}

const manifestOf = (parts: ReadonlyMap<number, string>): string =>
  `<CompleteMultipartUpload>${[...parts]
    .sort(([one], [other]) => one - other)
    .map(([number, etag]) => `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag></Part>`)
    .join('')}</CompleteMultipartUpload>`;

/** What an element holds, still escaped. The page's policy lets nobody parse markup, and this much of it needs no parser. */
const textOf = (markup: string, element: string): string => new RegExp(`<${element}>([^<]*)</${element}>`).exec(markup)?.[1] ?? '';
