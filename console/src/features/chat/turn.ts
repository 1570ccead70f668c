/**
 * One answer while it is said. It goes on when the page is left or loaded again: which turn answers a conversation is kept in the
 * browser, and any server tells it from the beginning.
 */
import { api, value } from '@/api/client';
import { Refusal, isRefusal } from '@/api/refusal';
import { readEvents, type ServerEvent } from '@/api/stream';
import type { Usage } from './queries';

export interface Answer {
  state: 'asking' | 'answering' | 'done' | 'failed';
  question: string;
  text: string;
  thinking: string;
  turn: string | null;
  conversation: string | null;
  finish: string | null;
  usage: Usage | null;
  error: Refusal | null;
}

const NOTHING: Answer = {
  state: 'asking',
  question: '',
  text: '',
  thinking: '',
  turn: null,
  conversation: null,
  finish: null,
  usage: null,
  error: null,
};

const STREAM = '/api/ai/chat/stream';
const keyOf = (conversation: string): string => `atrium.turn.${conversation}`;

interface Running {
  turn: string;
  question: string;
}

/** The turn that was answering a conversation when this browser last looked. */
export function runningTurn(conversation: string): Running | null {
  try {
    return JSON.parse(localStorage.getItem(keyOf(conversation)) ?? 'null') as Running | null;
  } catch {
    return null;
  }
}

export class LiveTurn {
  private answer: Answer;
  private readonly listeners = new Set<() => void>();
  private readonly leaving = new AbortController();
  private drawing = 0;

  private constructor(question: string, body: object, headers: Record<string, string>) {
    this.answer = { ...NOTHING, question };
    void this.listen(body, headers);
  }

  /** Ask; the same key joins the turn when the line breaks before its first event. */
  static ask(prompt: string, conversation: string): LiveTurn {
    const headers = { 'idempotency-key': crypto.randomUUID() };
    return new LiveTurn(prompt, { prompt, conversation, on_disconnect: 'finish', max_tokens: 4096 }, headers);
  }

  /** Take up a turn that runs already. */
  static resume({ turn, question }: Running): LiveTurn {
    return new LiveTurn(question, { resume: turn }, {});
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly current = (): Answer => this.answer;

  /** Stop reading; the turn itself goes on. */
  leave(): void {
    this.leaving.abort();
    cancelAnimationFrame(this.drawing);
  }

  /** Hang up on the model; the end arrives as an event. */
  async stop(): Promise<void> {
    if (this.answer.turn) await value(api.POST(STREAM, { body: { stop: this.answer.turn } }));
  }

  private async listen(body: object, headers: Record<string, string>): Promise<void> {
    try {
      const passing = (status: number) => status === 503;
      for await (const event of readEvents(STREAM, { method: 'POST', body, headers, passing, signal: this.leaving.signal })) {
        if (this.hear(event)) return;
      }
    } catch (error) {
      this.end({ state: 'failed', error: isRefusal(error) ? error : new Refusal(0, 'unknown', '') });
    }
  }

  /** Whether it was the last event. */
  private hear({ type, data }: ServerEvent): boolean {
    const told = JSON.parse(data) as Record<string, unknown>;
    if (type === 'start') {
      const conversation = (told['conversation'] as string | undefined) ?? null;
      const turn = told['id'] as string;
      if (conversation) localStorage.setItem(keyOf(conversation), JSON.stringify({ turn, question: this.answer.question }));
      this.change({ state: 'answering', turn, conversation });
    } else if (type === 'delta') {
      this.change({
        text: this.answer.text + ((told['text'] as string | undefined) ?? ''),
        thinking: this.answer.thinking + ((told['thinking'] as string | undefined) ?? ''),
      });
    } else if (type === 'done') {
      this.end({ state: 'done', text: told['text'] as string, finish: told['finish'] as string, usage: told['usage'] as Usage });
      return true;
    } else if (type === 'error') {
      const error = new Refusal(told['status'] as number, told['code'] as string, '', [], told);
      this.end({ state: 'failed', error, text: told['text'] as string, usage: told['usage'] as Usage });
      return true;
    }
    return false;
  }

  private end(change: Partial<Answer>): void {
    if (this.answer.conversation) localStorage.removeItem(keyOf(this.answer.conversation));
    this.change(change);
  }

  /** What arrives between two frames is drawn once. */
  private change(change: Partial<Answer>): void {
    this.answer = { ...this.answer, ...change };
    if (this.drawing) return;
    this.drawing = requestAnimationFrame(() => {
      this.drawing = 0;
      this.listeners.forEach((listener) => listener());
    });
  }
}
