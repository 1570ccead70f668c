/** Uploads: several at once, each with its progress, begun anew or continued when the connection drops. Knows nothing about React. */
import { isRefusal, type Refusal } from '@/api/refusal';
import { etagOf, type StoredObject, type Visibility } from '@/api/repository';

export type UploadState = 'queued' | 'sending' | 'waiting' | 'done' | 'refused';

export interface Upload {
  readonly id: number;
  readonly file: File;
  readonly key: string;
  readonly visibility: Visibility;
  readonly state: UploadState;
  readonly sent: number;
  /** How often it was begun. */
  readonly attempts: number;
  /** When it is begun again, while it waits. */
  readonly next: number;
  readonly error: Refusal | null;
  readonly object: StoredObject | null;
}

/** What must be at the key for the write to count: exactly what was there before, so that a lost answer never makes two versions. */
export type Condition = { 'If-Match': string } | { 'If-None-Match': '*' };

export interface Server {
  find: (key: string) => Promise<StoredObject | null>;
  /** Whether this person wrote the object's newest version. */
  isOwn: (object: StoredObject) => boolean;
  put: (upload: Upload, condition: Condition, onSent: (bytes: number) => void, signal: AbortSignal) => Promise<StoredObject>;
  /** Forget what was sent of an upload that nobody wants any more. */
  drop: (upload: Upload) => void;
}

export const AT_ONCE = 3;
const LARGE = 16 * 1024 * 1024;

/** Large enough to go in parts, and so to continue where it stopped. */
export const isLarge = (file: File): boolean => file.size > LARGE;
const MOST_ATTEMPTS = 10;
const LONGEST_PAUSE = 30_000;
const pauseAfter = (attempts: number): number => Math.min(LONGEST_PAUSE, 1000 * 2 ** (attempts - 1));

/** Worth another try: silence, and what passes by itself; a limit that is reached does not. */
const passes = (error: Refusal): boolean =>
  error.unreachable || error.code === 'limits.rate' || error.status >= 502 || error.code === 'repository.stalled';

export class Uploads {
  private uploads: readonly Upload[] = [];
  private last = 0;
  private readonly before = new Map<number, StoredObject | null>();
  private readonly aborts = new Map<number, AbortController>();
  private readonly timers = new Map<number, ReturnType<typeof setTimeout>>();
  private readonly listeners = new Set<() => void>();

  constructor(private readonly server: Server, private readonly onDone: (object: StoredObject) => void = () => undefined) {}

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  read = (): readonly Upload[] => this.uploads;

  add(files: { file: File; key: string }[], visibility: Visibility): void {
    const added = files.map(({ file, key }): Upload => ({
      id: ++this.last,
      file,
      key,
      visibility,
      state: 'queued',
      sent: 0,
      attempts: 0,
      next: 0,
      error: null,
      object: null,
    }));
    this.show([...this.uploads, ...added]);
    this.begin();
  }

  /** Stop it and forget it; what the server has not taken whole, it does not keep. */
  cancel(id: number): void {
    this.aborts.get(id)?.abort();
    this.forget(id);
    const cancelled = this.find(id);
    this.show(this.uploads.filter((one) => one.id !== id));
    if (cancelled) this.server.drop(cancelled);
    this.begin();
  }

  /** Begin one again that waits or was refused. */
  retry(id: number): void {
    clearTimeout(this.timers.get(id));
    this.set(id, { state: 'queued', error: null });
    this.begin();
  }

  /** The network is back: nobody has to wait any longer. */
  wake(): void {
    for (const one of this.uploads) if (one.state === 'waiting') this.retry(one.id);
  }

  /** Take what has ended off the list. */
  clear(): void {
    this.uploads.filter((one) => one.state === 'refused').forEach((one) => this.server.drop(one));
    this.show(this.uploads.filter((one) => one.state !== 'done' && one.state !== 'refused'));
  }

  get busy(): boolean {
    return this.uploads.some((one) => one.state === 'queued' || one.state === 'sending' || one.state === 'waiting');
  }

  private begin(): void {
    const free = AT_ONCE - this.uploads.filter((one) => one.state === 'sending').length;
    for (const one of this.uploads.filter(({ state }) => state === 'queued').slice(0, Math.max(0, free))) void this.run(one.id);
  }

  private async run(id: number): Promise<void> {
    const abort = new AbortController();
    this.aborts.set(id, abort);
    const upload = this.set(id, { state: 'sending', attempts: (this.find(id)?.attempts ?? 0) + 1 });
    if (!upload) return;
    try {
      const condition = await this.condition(upload);
      this.finish(id, await this.server.put(upload, condition, (sent) => this.set(id, { sent }), abort.signal));
    } catch (error) {
      if (!abort.signal.aborted) await this.fail(upload, error);
    }
    this.begin();
  }

  private async condition({ id, key }: Upload): Promise<Condition> {
    if (!this.before.has(id)) this.before.set(id, await this.server.find(key));
    const before = this.before.get(id);
    return before ? { 'If-Match': etagOf(before) } : { 'If-None-Match': '*' };
  }

  private async fail(upload: Upload, error: unknown): Promise<void> {
    if (!isRefusal(error)) throw error;
    if (error.status === 412) return this.meet(upload, error);
    const attempts = this.gotFurther(upload) ? 1 : upload.attempts;
    if (!passes(error) || attempts >= MOST_ATTEMPTS) return void this.set(upload.id, { state: 'refused', error });
    const pause = pauseAfter(attempts);
    this.set(upload.id, { state: 'waiting', error, attempts, next: Date.now() + pause });
    this.timers.set(upload.id, setTimeout(() => this.retry(upload.id), pause));
  }

  /** Every part that arrived is worth a fresh start of the patience: a bad line may break as often as it likes. */
  private gotFurther({ id, file, sent }: Upload): boolean {
    return isLarge(file) && (this.find(id)?.sent ?? 0) > sent;
  }

  /** Something else is at the key now: our own bytes whose answer was lost, or another person's, on top of which ours go. */
  private async meet(upload: Upload, error: Refusal): Promise<void> {
    const before = this.before.get(upload.id);
    const now = await this.server.find(upload.key).catch(() => null);
    const ours =
      upload.attempts > 1 &&
      now !== null &&
      this.server.isOwn(now) &&
      now.size === upload.file.size &&
      now.version.number === (before?.version.number ?? 0) + 1;
    if (ours) return this.finish(upload.id, now);
    this.before.delete(upload.id);
    if (upload.attempts >= MOST_ATTEMPTS) this.set(upload.id, { state: 'refused', error });
    else this.set(upload.id, { state: 'queued' });
  }

  private finish(id: number, object: StoredObject): void {
    this.forget(id);
    if (this.set(id, { state: 'done', object, sent: object.size, error: null })) this.onDone(object);
  }

  private forget(id: number): void {
    clearTimeout(this.timers.get(id));
    for (const kept of [this.before, this.aborts, this.timers]) kept.delete(id);
  }

  private find(id: number): Upload | undefined {
    return this.uploads.find((one) => one.id === id);
  }

  private set(id: number, change: Partial<Upload>): Upload | undefined {
    this.show(this.uploads.map((one) => (one.id === id ? { ...one, ...change } : one)));
    return this.find(id);
  }

  private show(uploads: readonly Upload[]): void {
    this.uploads = uploads;
    this.listeners.forEach((tell) => tell());
  }
}
