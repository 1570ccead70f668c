/** An answer as far as it was told, and what each event adds to it. An agent's answer has steps before its words. */
import type { Schemas } from '@/api/client';
import { Refusal } from '@/api/refusal';
import type { ServerEvent } from '@/api/stream';
import type { ArtifactFacts } from '@/ui/Artifact';
import type { Usage } from './queries';

export type Effect = Schemas['Step']['effect'];
export type CallStatus = Schemas['Step']['status'];
export type Stop = Schemas['AgentReply']['stop'];
export type Facts = Readonly<Record<string, unknown>>;

/** What the model said before it called tools, or one call. */
export type Step = { said: string } | Call;

export interface Call {
  call: string;
  name: string;
  arguments: Facts;
  effect: Effect;
  status: CallStatus;
  result: string;
  artifact: ArtifactFacts | null;
}

export interface Approval {
  call: string;
  name: string;
  arguments: Facts;
  effect: Effect;
  words: { source: string; words: string }[];
  digest: string;
}

export interface Attached {
  id: string;
  name: string;
}

export interface Answer {
  /** `reading`: the text of a file of the question is not there yet. `waiting`: for the person. */
  state: 'asking' | 'reading' | 'answering' | 'waiting' | 'done' | 'failed';
  question: string;
  files: readonly Attached[];
  /** Whether the agent answers; a run of it that broke off can be gone on with. */
  agent: boolean;
  steps: readonly Step[];
  text: string;
  thinking: string;
  turn: string | null;
  conversation: string | null;
  finish: string | null;
  usage: Usage | null;
  /** Why a run of the agent ended; null of a chat. */
  stop: Stop | null;
  approvals: readonly Approval[];
  /** What the quota says that ended the run. */
  refusal: Refusal | null;
  /** Whether a format was asked for, and what is wrong with the reply then. */
  parsed: { value: unknown } | null;
  schemaError: { path: string; message: string } | null;
  error: Refusal | null;
}

export const NOTHING: Answer = {
  state: 'asking',
  question: '',
  files: [],
  agent: false,
  steps: [],
  text: '',
  thinking: '',
  turn: null,
  conversation: null,
  finish: null,
  usage: null,
  stop: null,
  approvals: [],
  refusal: null,
  parsed: null,
  schemaError: null,
  error: null,
};

export const isCall = (step: Step): step is Call => 'call' in step;
export const mayGoOn = ({ state, agent, turn, error }: Answer): boolean =>
  state === 'failed' && agent && turn !== null && error?.status !== 404;
export const isOver = ({ state }: Answer): boolean => state === 'done' || state === 'failed';

interface Called {
  call: string;
  name: string;
  arguments: Facts;
  effect: Effect;
}

interface Result {
  call: string;
  status: CallStatus;
  text: string;
  artifact?: ArtifactFacts | null;
}

interface Last {
  text: string;
  finish: string | null;
  usage: Usage;
  stop?: Stop;
  steps?: Schemas['Step'][];
  approvals?: Approval[];
  refusal?: Record<string, unknown> | null;
  parsed?: unknown;
  schema_error?: Answer['schemaError'];
}

/** The answer with this event. */
export function withEvent(answer: Answer, { type, data }: ServerEvent): Answer {
  const told: unknown = JSON.parse(data);
  switch (type) {
    case 'start': {
      const { id, conversation = null } = told as { id: string; conversation?: string };
      return { ...answer, state: 'answering', turn: id, conversation };
    }
    case 'delta': {
      const { text = '', thinking = '' } = told as { text?: string; thinking?: string };
      return { ...answer, text: answer.text + text, thinking: answer.thinking + thinking };
    }
    case 'tool_call': {
      const call: Call = { ...(told as Called), status: 'running', result: '', artifact: null };
      // Told before: a run that is gone on with may be told from its beginning.
      if (answer.steps.some((step) => isCall(step) && step.call === call.call)) return { ...answer, text: '' };
      return { ...answer, text: '', steps: [...saidBefore(answer), call] };
    }
    case 'tool_result': {
      const result = told as Result;
      const after = (step: Step) => (isCall(step) && step.call === result.call ? withResult(step, result) : step);
      return { ...answer, steps: answer.steps.map(after) };
    }
    case 'done': {
      const last = told as Last;
      return ended({ ...answer, state: last.stop === 'approval' ? 'waiting' : 'done' }, last);
    }
    case 'error': {
      const { status, code } = told as { status: number; code: string };
      const error = new Refusal(status, code, '', [], told as Facts);
      // One that ends the stream alone says nothing of the reply.
      return ended({ ...answer, state: 'failed', error }, { ...(told as Last), text: (told as Partial<Last>).text ?? answer.text });
    }
    default:
      return answer;
  }
}

/** What was said before a call is a step of its own, and not the answer. */
const saidBefore = ({ steps, text }: Answer): readonly Step[] => (text.trim() ? [...steps, { said: text.trim() }] : steps);

const withResult = (step: Call, { status, text, artifact = null }: Result): Call => ({ ...step, status, result: text, artifact });

function ended(answer: Answer, last: Last): Answer {
  const { refusal } = last;
  const code = typeof refusal?.['code'] === 'string' ? refusal['code'] : '';
  return {
    ...answer,
    text: last.text,
    finish: last.finish,
    usage: last.usage,
    stop: last.stop ?? null,
    approvals: last.approvals ?? [],
    refusal: refusal ? new Refusal(429, code, '', [], refusal) : null,
    parsed: 'parsed' in last ? { value: last.parsed } : null,
    schemaError: last.schema_error ?? null,
    steps: last.steps ? withStates(answer.steps, last.steps) : answer.steps,
  };
}

/** The last event knows every call and how it stands, also those before the point at which a stream was taken up. */
function withStates(steps: readonly Step[], told: Schemas['Step'][]): readonly Step[] {
  const ends = told.map((step): Call => ({ ...step, artifact: (step.artifact ?? null) as ArtifactFacts | null }));
  const last = new Map(ends.map((step) => [step.call, step]));
  const known = new Set(steps.filter(isCall).map(({ call }) => call));
  const missed = ends.filter(({ call }) => !known.has(call));
  return [...missed, ...steps.map((step) => (isCall(step) ? (last.get(step.call) ?? step) : step))];
}
