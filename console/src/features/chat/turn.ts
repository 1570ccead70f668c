/**
 * One answer while it is said. It goes on when the page is left or loaded again: which turn answers a conversation is kept in the
 * browser, and any server tells it from the beginning. A run of the agent that waits for a decision is found again in the same way.
 */
import { api, value } from '@/api/client';
import { Refusal, isRefusal } from '@/api/refusal';
import { readEvents } from '@/api/stream';
import { NOTHING, isOver, withEvent, type Answer, type Attached } from './answer';

const STREAM = '/api/ai/chat/stream';
const AGENT = '/api/agent';
/** How long the text of a file is waited for, in milliseconds. */
const READING = 120_000;
const RUNS = 'atrium.runs';
const MOST_RUNS = 100;
const keyOf = (conversation: string): string => `atrium.turn.${conversation}`;

export interface Running {
  turn: string;
  question: string;
  files?: readonly Attached[];
  agent?: boolean;
}

export interface Question {
  text: string;
  files: readonly Attached[];
  /** Ask the agent, which uses the team's tools. */
  tools: boolean;
  /** What `response_format` asks for, if anything. */
  format: object | null;
}

export interface Decision {
  call: string;
  digest: string;
  approve: boolean;
  note: string;
}

/** The turn that was answering a conversation when this browser last looked. */
export function runningTurn(conversation: string): Running | null {
  try {
    return JSON.parse(localStorage.getItem(keyOf(conversation)) ?? 'null') as Running | null;
  } catch {
    return null;
  }
}

/** Which turns were runs of the agent, as far as this browser began them. */
export const isRun = (turn: string | undefined): boolean => turn !== undefined && keptRuns().includes(turn);

function keptRuns(): string[] {
  try {
    return JSON.parse(localStorage.getItem(RUNS) ?? '[]') as string[];
  } catch {
    return [];
  }
}

/** What became of a turn, told from its beginning; it changes nothing. */
export async function readAnswer(turn: string, signal: AbortSignal): Promise<Answer> {
  let answer = NOTHING;
  for await (const event of readEvents(STREAM, { method: 'POST', body: { resume: turn }, passing, signal })) {
    answer = withEvent(answer, event);
    if (isOver(answer) || answer.state === 'waiting') return answer;
  }
  return answer;
}

const passing = (status: number): boolean => status === 503;

function bodyOf({ text, files, tools, format }: Question, conversation: string): object {
  const parts = [{ type: 'text', text }, ...files.map(({ id }) => ({ type: 'file', object_id: id }))];
  return {
    prompt: files.length ? parts : text,
    conversation,
    on_disconnect: 'finish',
    max_tokens: 4096,
    ...(format ? { response_format: format } : {}),
    ...(tools ? { stream: true } : {}),
  };
}

export class LiveTurn {
  private answer: Answer;
  private readonly listeners = new Set<() => void>();
  private readonly leaving = new AbortController();
  private drawing = 0;

  private constructor(question: string, files: readonly Attached[], agent: boolean) {
    this.answer = { ...NOTHING, question, files, agent };
  }

  /** Ask; the same key joins the turn when the line breaks before its first event. */
  static ask(question: Question, conversation: string): LiveTurn {
    const turn = new LiveTurn(question.text, question.files, question.tools);
    const headers = { 'idempotency-key': crypto.randomUUID() };
    void turn.askOnceRead(question.tools ? AGENT : STREAM, bodyOf(question, conversation), headers);
    return turn;
  }

  /** Take up a turn that runs already, waits, or broke off. */
  static resume({ turn: id, question, files = [], agent = false }: Running): LiveTurn {
    const turn = new LiveTurn(question, files, agent);
    void turn.listen(STREAM, { resume: id }).catch((error: unknown) => turn.fail(error));
    return turn;
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

  /** Decide every call that waits; the answer goes on with what comes of it. */
  async decide(decisions: Decision[]): Promise<void> {
    const { turn, approvals } = this.answer;
    this.change({ state: 'answering', approvals: [], error: null });
    try {
      await this.listen(AGENT, { run: turn, decisions, stream: true, on_disconnect: 'finish' });
    } catch (error) {
      if (isRefusal(error, 'agent.decided') || isRefusal(error, 'agent.changed')) await this.readAgain(error);
      else if (isRefusal(error) && error.status !== 404) this.change({ state: 'waiting', approvals, error });
      else this.fail(error);
    }
  }

  /** Go on with a run of the agent that broke off, after the last call that came to its end. */
  async goOn(): Promise<void> {
    this.change({ state: 'answering', text: '', thinking: '', error: null });
    try {
      await this.listen(AGENT, { run: this.answer.turn, stream: true, on_disconnect: 'finish' });
    } catch (error) {
      this.fail(error);
    }
  }

  /** How the run stands by now, beside the reason why that was looked up. */
  private async readAgain(why: Refusal): Promise<void> {
    this.change({ steps: [], text: '', thinking: '', error: why });
    try {
      await this.listen(STREAM, { resume: this.answer.turn });
    } catch (error) {
      this.fail(error);
    }
  }

  /** A file that was just uploaded may have no text yet, however long the server waited for it; the server says when to ask again. */
  private async askOnceRead(address: string, body: object, headers: Record<string, string>): Promise<void> {
    const until = Date.now() + READING;
    for (;;) {
      try {
        return await this.listen(address, body, headers);
      } catch (error) {
        const seconds = isRefusal(error, 'ai.text_pending') ? error.facts['retry_after'] : undefined;
        if (typeof seconds !== 'number' || Date.now() > until) return this.fail(error);
        this.change({ state: 'reading' });
        await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
        if (this.leaving.signal.aborted) return;
      }
    }
  }

  private async listen(address: string, body: object, headers: Record<string, string> = {}): Promise<void> {
    const options = { method: 'POST', body, headers, passing, rest: STREAM, signal: this.leaving.signal } as const;
    for await (const event of readEvents(address, options)) {
      const next = withEvent(this.answer, event);
      if (event.type === 'start') this.remember(next);
      if (event.type === 'tool_call' && !isRun(next.turn!)) {
        localStorage.setItem(RUNS, JSON.stringify([next.turn, ...keptRuns()].slice(0, MOST_RUNS)));
      }
      if (isOver(next)) this.forget();
      this.change(next);
      if (isOver(next) || next.state === 'waiting') return;
    }
  }

  private remember({ conversation, turn, question, files, agent }: Answer): void {
    if (conversation) localStorage.setItem(keyOf(conversation), JSON.stringify({ turn, question, files, agent }));
  }

  private forget(): void {
    if (this.answer.conversation) localStorage.removeItem(keyOf(this.answer.conversation));
  }

  private fail(error: unknown): void {
    this.forget();
    this.change({ state: 'failed', error: isRefusal(error) ? error : new Refusal(0, 'unknown', '') });
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
