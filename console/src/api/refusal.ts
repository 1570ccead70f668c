/** What the server refused, or that it could not be reached; the words come from the catalogs, by `code` and `status`. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly requestId: string,
    readonly fields: readonly string[] = [],
    readonly facts: Readonly<Record<string, unknown>> = {},
  ) {
    super(`${status} ${code}`);
    this.name = 'Refusal';
  }

  /** Nobody answered: no network, or the server is down. */
  get unreachable(): boolean {
    return this.status === 0;
  }
}

export function isRefusal(error: unknown, code?: string): error is Refusal {
  return error instanceof Refusal && (code === undefined || error.code === code);
}

/** The refusal a response carries (RFC 9457), however little of it arrived. */
export async function refusalOf(response: Response): Promise<Refusal> {
  const body = await response.clone().json().catch(() => ({})) as Record<string, unknown>;
  const errors = Array.isArray(body.errors) ? (body.errors as { path?: string }[]) : [];
  const code = typeof body.code === 'string' ? body.code : 'unknown';
  const requestId = typeof body.request_id === 'string' ? body.request_id : (response.headers.get('x-request-id') ?? '');
  return new Refusal(response.status, code, requestId, errors.map((one) => one.path ?? ''), body);
}
