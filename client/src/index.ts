/** The interface of an Atrium server, typed by its own route table. Runs wherever there is `fetch`. */
import type { Rows, Schemas } from './generated.js';

export type { Rows, Schemas };

export type Method = keyof Rows;
type Row<M extends Method, P extends keyof Rows[M]> = Rows[M][P] & { reply: unknown };
/** `as` says how to read the bytes of a reply; else its type decides. */
type More = Omit<RequestInit, 'body' | 'method'> & { as?: 'blob' };
/** What a row is sent: `params` by place, and `body`; and whatever else `fetch` takes. */
export type Sent<M extends Method, P extends keyof Rows[M]> = Omit<Row<M, P>, 'reply'> & More;
type Arguments<M extends Method, P extends keyof Rows[M]> =
  Record<never, never> extends Omit<Row<M, P>, 'reply'> ? [sent?: Sent<M, P>] : [sent: Sent<M, P>];

/** What came back: the value, and the response it came in. */
export interface Answer<T> {
  data: T;
  response: Response;
}

type Call<M extends Method> = <P extends keyof Rows[M]>(path: P, ...sent: Arguments<M, P>) => Promise<Answer<Row<M, P>['reply']>>;
export type Client = { [M in Method]: Call<M> } & {
  /** A row that is not in the table, as a plugin's. */
  request: (method: Method, path: string, sent?: AnySent) => Promise<Answer<unknown>>;
};

/** A refusal: `code` is stable and for programs, `detail` is for people. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    readonly requestId: string | null,
    readonly problem: unknown,
  ) {
    super(`${code}: ${detail}`);
    this.name = 'Refused';
  }
}

export interface Options {
  /** Where the server is: `https://atrium.example.com`. */
  address: string;
  /** An API token. */
  token?: string;
  /** Sends a request; without it `fetch` does, and what the server refuses is thrown as `Refused`. */
  send?: (request: Request) => Promise<Response>;
}

const METHODS: Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

export interface AnySent extends More {
  params?: { path?: object; query?: object; header?: object };
  body?: unknown;
}

/** One function for each method: `client.GET('/api/notes/{id}', { params: { path: { id } } })`. */
export function createClient({ address, token, send = sendOrRefuse }: Options): Client {
  const request = async (method: Method, path: string, { params = {}, body, headers, as, ...rest }: AnySent = {}) => {
    const asked = new Request(address + placed(path, params.path) + queried(params.query), {
      ...rest,
      method,
      headers: headersOf({ ...Object.fromEntries(new Headers(headers)), ...params.header }, token, body),
      ...(body === undefined ? {} : { body: isRaw(body) ? body : JSON.stringify(body) }),
    });
    const response = await send(asked);
    return { data: await (as === 'blob' ? response.blob() : valueOf(response)), response };
  };
  const rows = METHODS.map((method) => [method, (path: string, sent?: AnySent) => request(method, path, sent)]);
  return { request, ...Object.fromEntries(rows) } as Client;
}

async function sendOrRefuse(request: Request): Promise<Response> {
  const response = await fetch(request);
  if (response.ok) return response;
  const problem = (await response.json().catch(() => ({}))) as { code?: string; detail?: string; title?: string };
  const said = problem.detail ?? problem.title ?? response.statusText;
  throw new Refused(response.status, problem.code ?? 'unknown', said, response.headers.get('x-request-id'), problem);
}

const entriesOf = (values: object = {}): [string, unknown][] => Object.entries(values).filter(([, value]) => value !== undefined && value !== null);

const placed = (path: string, values?: object): string =>
  entriesOf(values).reduce((text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(String(value))), path);

function queried(values?: object): string {
  const pairs = entriesOf(values).flatMap(([name, value]) => [value].flat().map((one) => `${encodeURIComponent(name)}=${encodeURIComponent(String(one))}`));
  return pairs.length > 0 ? `?${pairs.join('&')}` : '';
}

function headersOf(values: object | undefined, token: string | undefined, body: unknown): Headers {
  const headers = new Headers(token ? { authorization: `Bearer ${token}` } : {});
  if (body !== undefined && !isRaw(body)) headers.set('content-type', 'application/json');
  for (const [name, value] of entriesOf(values)) headers.set(name, String(value));
  return headers;
}

const isRaw = (body: unknown): body is Blob | ArrayBuffer => body instanceof Blob || body instanceof ArrayBuffer;

/** JSON as its value, a stream of events as it comes, and anything else as bytes. */
async function valueOf(response: Response): Promise<unknown> {
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('text/event-stream')) return response.body;
  if (type && !type.startsWith('application/json')) return response.blob();
  const text = await response.text();
  return text ? JSON.parse(text) : undefined;
}
