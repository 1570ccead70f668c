/** Where in a JSON text each value stands, so that a problem's path leads to its line. */
export interface Read {
  value: unknown;
  /** The line of every value, by its JSON pointer. */
  lines: Map<string, number>;
  /** The line at which the text stops being JSON. */
  broken: number | null;
}

const DEEPEST = 200;
const LITERAL = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/y;
// Escapes are judged by JSON.parse; here only the end of a string matters.
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

class Broken extends Error {
  constructor(readonly at: number) {
    super('not JSON');
  }
}

const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

export function readJson(text: string): Read {
  const lines = new Map<string, number>();
  let [at, line, counted] = [0, 1, 0];
  const lineNow = (): number => {
    for (; counted < at; counted++) if (text[counted] === '\n') line++;
    return line;
  };
  const space = () => {
    while (at < text.length && ' \t\n\r'.includes(text[at]!)) at++;
  };
  const expect = (letter: string) => {
    if (text[at] !== letter) throw new Broken(at);
    at++;
  };
  const match = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found === undefined) throw new Broken(at);
    at += found.length;
    return found;
  };
  const walk = (pointer: string, depth: number): void => {
    space();
    lines.set(pointer, lineNow());
    if (depth > DEEPEST) throw new Broken(at);
    const first = text[at];
    if (first === '{' || first === '[') {
      const close = first === '{' ? '}' : ']';
      at++;
      space();
      for (let count = 0; text[at] !== close; count++) {
        if (count) expect(',');
        space();
        let name = String(count);
        if (first === '{') {
          name = JSON.parse(match(STRING)) as string;
          space();
          expect(':');
        }
        walk(`${pointer}/${escaped(name)}`, depth + 1);
        space();
      }
      at++;
    } else {
      match(first === '"' ? STRING : LITERAL);
    }
  };
  try {
    walk('', 0);
    space();
    if (at < text.length) throw new Broken(at);
    return { value: JSON.parse(text) as unknown, lines, broken: null };
  } catch (error) {
    if (error instanceof Broken) at = Math.min(error.at, Math.max(0, text.length - 1));
    return { value: undefined, lines, broken: lineNow() };
  }
}

/** The line of what a path names, or of the closest thing above it that is there. */
export function lineOf({ lines }: Pick<Read, 'lines'>, pointer: string): number {
  for (let path = pointer; path; path = path.slice(0, path.lastIndexOf('/'))) {
    const line = lines.get(path);
    if (line !== undefined) return line;
  }
  return 1;
}
