/** Autosave of one note: says what is saved, and never loses a text. Knows nothing about React. */
import { isRefusal, type Refusal } from '@/api/refusal';
import type { Note } from '@/api/queries';
import { dropDraft, keepDraft, readDraft } from './drafts';

export interface Text {
  title: string;
  body: string;
}

export type SaveState = 'saved' | 'editing' | 'saving' | 'untitled' | 'waiting' | 'conflict' | 'refused';

export interface Snapshot {
  text: Text;
  note: Note;
  state: SaveState;
  /** What the server has, when it is not what this text was written on. */
  theirs: Note | null;
  base: Text;
  error: Refusal | null;
  /** Grows whenever the text was replaced by something other than typing. */
  generation: number;
  restored: boolean;
}

export interface Server {
  save: (id: string, change: Partial<Text> & { visibility?: Note['visibility'] }, version: number) => Promise<Note>;
  read: (id: string) => Promise<Note>;
}

export const SAVE_AFTER = 800;
const RETRY_AFTER = 4000;

const textOf = (note: Text): Text => ({ title: note.title, body: note.body });
const equal = (one: Text, other: Text): boolean => one.title === other.title && one.body === other.body;

export class Keeper {
  private snapshot: Snapshot;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private saving: Promise<void> | null = null;
  private readonly listeners = new Set<() => void>();

  constructor(note: Note, private readonly user: string, private readonly server: Server) {
    this.snapshot = { text: textOf(note), note, state: 'saved', theirs: null, base: textOf(note), error: null, generation: 0, restored: false };
    this.restore();
  }

  /** An earlier visit's unsaved text comes back; on a note that moved on meanwhile it becomes a conflict to look at. */
  private restore(): void {
    const { note } = this.snapshot;
    const draft = readDraft(this.user, note.id);
    if (!draft) return;
    if (equal(draft, note)) return dropDraft(this.user, note.id);
    const moved = draft.version !== note.version;
    this.snapshot = { ...this.snapshot, text: textOf(draft), base: draft.base, restored: true, state: moved ? 'conflict' : 'editing', theirs: moved ? note : null };
    if (!moved) this.schedule(SAVE_AFTER);
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  read = (): Snapshot => this.snapshot;

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
  async show(visibility: Note['visibility']): Promise<void> {
    await this.flush();
    const note = await this.server.save(this.snapshot.note.id, { visibility }, this.snapshot.note.version);
    this.set({ note });
  }

  /** The person has looked at both versions and decided. */
  async resolve(text: Text): Promise<void> {
    const { theirs } = this.snapshot;
    if (!theirs) return;
    this.set({ note: theirs, base: textOf(theirs), text, theirs: null, state: 'editing', generation: this.snapshot.generation + 1, restored: false });
    this.keep();
    if (equal(text, theirs)) this.settle(theirs);
    else await this.flush();
  }

  /** Somebody else's newer version arrived while nothing is unsaved here. */
  refresh(note: Note): void {
    if (this.snapshot.state !== 'saved' || note.version <= this.snapshot.note.version) return;
    this.set({ note, base: textOf(note), text: textOf(note), generation: this.snapshot.generation + 1 });
  }

  stop(): void {
    void this.flush();
    clearTimeout(this.timer);
  }

  private async save(): Promise<void> {
    const { note, text } = this.snapshot;
    this.set({ state: 'saving', error: null });
    try {
      this.settle(await this.server.save(note.id, text, note.version), text);
    } catch (error) {
      await this.fail(error);
    }
  }

  private settle(note: Note, sent: Text = textOf(note)): void {
    const more = !equal(this.snapshot.text, sent);
    this.set({ note, base: textOf(note), state: more ? 'editing' : 'saved', error: null, restored: false });
    if (more) {
      this.keep();
      this.schedule(SAVE_AFTER);
    } else dropDraft(this.user, note.id);
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
      const theirs = await this.server.read(this.snapshot.note.id);
      // The same text saved twice is no conflict.
      if (equal(theirs, this.snapshot.text)) this.settle(theirs);
      else this.set({ state: 'conflict', theirs, generation: this.snapshot.generation + 1 });
    } catch (error) {
      await this.fail(error);
    }
  }

  private keep(): void {
    const { text, note, base, theirs } = this.snapshot;
    if (!theirs && equal(text, base)) dropDraft(this.user, note.id);
    else keepDraft(this.user, note.id, { ...text, version: note.version, base });
  }

  private schedule(milliseconds: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.flush(), milliseconds);
  }

  private set(change: Partial<Snapshot>): void {
    this.snapshot = { ...this.snapshot, ...change };
    this.listeners.forEach((tell) => tell());
  }
}
