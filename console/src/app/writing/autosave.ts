/** Autosave of one text: says what is saved, and never loses a word. Knows nothing about React. */
import { isRefusal, type Refusal } from '@/api/refusal';
import { dropDraft, keepDraft, readDraft } from './drafts';

export interface Text {
  title: string;
  body: string;
}

/** Something with a text that several people may write: a note, a document. */
export interface Written extends Text {
  id: string;
  /** Grows with every text that was saved. */
  version: number;
  visibility: string;
  updated_at: string;
}

export type SaveState = 'saved' | 'editing' | 'saving' | 'untitled' | 'waiting' | 'conflict' | 'refused';

export interface Snapshot<Kept extends Written> {
  text: Text;
  /** What the server had when it last answered. */
  kept: Kept;
  state: SaveState;
  /** What the server has, when it is not what this text was written on. */
  theirs: Kept | null;
  base: Text;
  error: Refusal | null;
  /** Grows whenever the text was replaced by something other than typing. */
  generation: number;
  restored: boolean;
}

export interface Server<Kept extends Written> {
  /** Save on top of what is kept; refused with 412 when the server has something newer. */
  save: (kept: Kept, change: Partial<Text> & { visibility?: Kept['visibility'] }) => Promise<Kept>;
  read: (id: string) => Promise<Kept>;
}

export const SAVE_AFTER = 800;
const RETRY_AFTER = 4000;

const textOf = ({ title, body }: Text): Text => ({ title, body });
const equal = (one: Text, other: Text): boolean => one.title === other.title && one.body === other.body;

export class Autosave<Kept extends Written> {
  private snapshot: Snapshot<Kept>;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private saving: Promise<void> | null = null;
  private readonly listeners = new Set<() => void>();

  constructor(
    kept: Kept,
    private readonly user: string,
    private readonly server: Server<Kept>,
  ) {
    this.snapshot = {
      text: textOf(kept),
      kept,
      state: 'saved',
      theirs: null,
      base: textOf(kept),
      error: null,
      generation: 0,
      restored: false,
    };
    this.restore();
  }

  /** An earlier visit's unsaved text comes back; on a text that moved on meanwhile it becomes a conflict to look at. */
  private restore(): void {
    const { kept } = this.snapshot;
    const draft = readDraft(this.user, kept.id);
    if (!draft) return;
    if (equal(draft, kept)) return dropDraft(this.user, kept.id);
    const moved = draft.version !== kept.version;
    this.snapshot = {
      ...this.snapshot,
      text: textOf(draft),
      base: draft.base,
      restored: true,
      state: moved ? 'conflict' : 'editing',
      theirs: moved ? kept : null,
    };
    if (!moved) this.schedule(SAVE_AFTER);
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  read = (): Snapshot<Kept> => this.snapshot;

  edit(change: Partial<Text>): void {
    const text = { ...this.snapshot.text, ...change };
    const { state } = this.snapshot;
    this.set({ text, state: state === 'conflict' ? 'conflict' : text.title.trim() ? 'editing' : 'untitled' });
    this.keep();
    if (this.snapshot.state === 'editing') this.schedule(SAVE_AFTER);
  }

  /** Save now what is not saved; resolves when the server has it or will not take it. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    if (this.saving) await this.saving;
    if (equal(this.snapshot.text, this.snapshot.base) || ['conflict', 'untitled'].includes(this.snapshot.state)) return;
    this.saving = this.save().finally(() => (this.saving = null));
    await this.saving;
  }

  /** Let the team in, or keep it to oneself; texts go first so that versions stay in order. */
  async show(visibility: Kept['visibility']): Promise<void> {
    await this.flush();
    this.set({ kept: await this.server.save(this.snapshot.kept, { visibility }) });
  }

  /** The person has looked at both versions and decided. */
  async resolve(text: Text): Promise<void> {
    const { theirs } = this.snapshot;
    if (!theirs) return;
    this.set({
      kept: theirs,
      base: textOf(theirs),
      text,
      theirs: null,
      state: 'editing',
      generation: this.snapshot.generation + 1,
      restored: false,
    });
    this.keep();
    if (equal(text, theirs)) this.settle(theirs);
    else await this.flush();
  }

  /** Somebody else's newer version arrived while nothing is unsaved here. */
  refresh(kept: Kept): void {
    if (this.snapshot.state !== 'saved' || kept.version <= this.snapshot.kept.version) return;
    this.set({ kept, base: textOf(kept), text: textOf(kept), generation: this.snapshot.generation + 1 });
  }

  stop(): void {
    void this.flush();
    clearTimeout(this.timer);
  }

  private async save(): Promise<void> {
    const { kept, text } = this.snapshot;
    this.set({ state: 'saving', error: null });
    try {
      this.settle(await this.server.save(kept, text), text);
    } catch (error) {
      await this.fail(error);
    }
  }

  private settle(kept: Kept, sent: Text = textOf(kept)): void {
    const more = !equal(this.snapshot.text, sent);
    this.set({ kept, base: textOf(kept), state: more ? 'editing' : 'saved', error: null, restored: false });
    if (more) {
      this.keep();
      this.schedule(SAVE_AFTER);
    } else dropDraft(this.user, kept.id);
  }

  private async fail(error: unknown): Promise<void> {
    if (!isRefusal(error)) throw error;
    if (error.status === 412) return this.meet();
    const passing = error.unreachable || error.status === 429 || error.status >= 500;
    this.set({ state: passing ? 'waiting' : 'refused', error });
    if (passing) this.schedule(RETRY_AFTER);
  }

  private async meet(): Promise<void> {
    try {
      const theirs = await this.server.read(this.snapshot.kept.id);
      // The same text saved twice is no conflict.
      if (equal(theirs, this.snapshot.text)) this.settle(theirs);
      // Nor is a share or a change of visibility: the text goes on top of it.
      else if (equal(theirs, this.snapshot.base)) {
        this.set({ kept: theirs, state: 'editing' });
        this.schedule(0);
      } else this.set({ state: 'conflict', theirs, generation: this.snapshot.generation + 1 });
    } catch (error) {
      await this.fail(error);
    }
  }

  private keep(): void {
    const { text, kept, base, theirs } = this.snapshot;
    if (!theirs && equal(text, base)) dropDraft(this.user, kept.id);
    else keepDraft(this.user, kept.id, { ...text, version: kept.version, base });
  }

  private schedule(milliseconds: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.flush(), milliseconds);
  }

  private set(change: Partial<Snapshot<Kept>>): void {
    this.snapshot = { ...this.snapshot, ...change };
    this.listeners.forEach((tell) => tell());
  }
}
