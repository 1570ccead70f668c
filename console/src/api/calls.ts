/** The calls each screen made, so that any of them can be shown as curl. Secrets never enter the list. */
export interface Call {
  method: string;
  path: string;
  body: string | null;
  ifMatch: string | null;
  public: boolean;
}

const SECRETS = ['password', 'new_password', 'code', 'token'];
const PUBLIC = ['/api/login', '/api/bootstrap', '/api/activate', '/api/password/reset'];
const MOST = 12;
const byScreen = new Map<string, Call[]>();

export const screenNow = (): string => location.hash.slice(1).split('?')[0] || '/';

export async function noteCall(request: Request): Promise<void> {
  const screen = screenNow();
  const url = new URL(request.url);
  const text = request.method === 'GET' ? '' : await request.text();
  const call: Call = {
    method: request.method,
    path: url.pathname + url.search,
    body: text ? withoutSecrets(text) : null,
    ifMatch: request.headers.get('if-match'),
    public: PUBLIC.includes(url.pathname),
  };
  const others = (byScreen.get(screen) ?? []).filter((one) => one.method !== call.method || one.path !== call.path);
  byScreen.set(screen, [call, ...others].slice(0, MOST));
}

export const callsOf = (screen: string): readonly Call[] => byScreen.get(screen) ?? [];

/** A command that does the same; the token comes from the shell's own variable. */
export function asCurl(call: Call, origin: string = location.origin): string {
  const parts = [`curl ${call.method === 'GET' ? '' : `-X ${call.method} `}${quoted(origin + call.path)}`];
  if (!call.public) parts.push('-H "Authorization: Bearer $ATRIUM_TOKEN"');
  if (call.ifMatch) parts.push(`-H ${quoted(`If-Match: ${call.ifMatch}`)}`);
  if (call.body) parts.push(`-H 'Content-Type: application/json'`, `-d ${quoted(call.body)}`);
  return parts.join(' \\\n  ');
}

function withoutSecrets(text: string): string {
  try {
    const body = JSON.parse(text) as Record<string, unknown>;
    for (const name of SECRETS) if (name in body) body[name] = '…';
    return JSON.stringify(body);
  } catch {
    return text;
  }
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
