/** What is wrong with a text in place of its source, found while it is written: the same that the server finds when it is sent. */
import { IntlMessageFormat } from 'intl-messageformat';

export interface Check {
  code:
    | 'empty'
    | 'character'
    | 'too_long'
    | 'syntax'
    | 'apostrophe'
    | 'argument_absent'
    | 'argument_unknown'
    | 'types'
    | 'tag_absent'
    | 'tag_unknown'
    | 'select_keys'
    | 'same_as_source'
    | 'spaces'
    | 'plural_forms';
  level: 'error' | 'warning';
  /** What the sentence about it names. */
  values: Record<string, string | number>;
}

/** What a program and a message have agreed on. */
export interface Signature {
  arguments: Map<string, string>;
  tags: Set<string>;
  plurals: Map<string, Set<string>>;
  selects: Map<string, Set<string>>;
}

const LONGEST = 20_000;
// What no file format can hold.
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]/;
const NUMBER = new Set(['number', 'plural', 'selectordinal']);
const MOMENT = new Set(['date', 'time']);

/** As the parser numbers them. */
const KIND = { argument: 1, number: 2, date: 3, time: 4, select: 5, plural: 6, tag: 8 } as const;
interface Element {
  type: number;
  value?: string;
  pluralType?: 'cardinal' | 'ordinal';
  options?: Record<string, { value: Element[] }>;
  children?: Element[];
}

/** Null for what cannot be read as a message. */
export function signatureOf(text: string): Signature | null {
  const found: Signature = { arguments: new Map(), tags: new Set(), plurals: new Map(), selects: new Map() };
  try {
    note(new IntlMessageFormat(text, 'en').getAst() as Element[], found);
    return found;
  } catch {
    return null;
  }
}

function note(elements: Element[], found: Signature): void {
  for (const element of elements) {
    const name = element.value ?? '';
    if (element.type === KIND.argument) found.arguments.set(name, found.arguments.get(name) ?? '');
    if (element.type === KIND.number) found.arguments.set(name, 'number');
    if (element.type === KIND.date) found.arguments.set(name, 'date');
    if (element.type === KIND.time) found.arguments.set(name, 'time');
    if (element.type === KIND.tag) found.tags.add(name);
    if (element.type === KIND.select) noteChoice(element, 'select', found.selects, found);
    const plural = element.pluralType === 'ordinal' ? 'selectordinal' : 'plural';
    if (element.type === KIND.plural) noteChoice(element, plural, found.plurals, found);
    note(element.children ?? [], found);
    Object.values(element.options ?? {}).forEach((option) => note(option.value, found));
  }
}

function noteChoice(element: Element, type: string, choices: Map<string, Set<string>>, found: Signature): void {
  const name = element.value ?? '';
  found.arguments.set(name, type);
  choices.set(name, new Set([...(choices.get(name) ?? []), ...Object.keys(element.options ?? {})]));
}

/** The forms that a language has. */
export function pluralForms(locale: string, type: 'cardinal' | 'ordinal' = 'cardinal'): string[] {
  return new Intl.PluralRules(locale, { type }).resolvedOptions().pluralCategories;
}

/** Every fault of a text; warnings only where nothing keeps it out. */
export function checksOf(source: string, text: string, locale: string, longest: number | null): Check[] {
  const errors = errorsOf(source, text, longest);
  return errors.length ? errors : warningsOf(source, text, locale);
}

const error = (code: Check['code'], values: Check['values'] = {}): Check => ({ code, level: 'error', values });
const warning = (code: Check['code'], values: Check['values'] = {}): Check => ({ code, level: 'warning', values });

function errorsOf(source: string, text: string, longest: number | null): Check[] {
  if (source.trim() && !text.trim()) return [error('empty')];
  const most = longest ?? LONGEST;
  const length = [...text].length;
  const found = [...(CONTROL.test(text) ? [error('character')] : []), ...(length > most ? [error('too_long', { length, most })] : [])];
  const wanted = signatureOf(source);
  if (!wanted) return found;
  const swallowed = [...wanted.arguments.keys()].find((name) => new RegExp(`(^|[^'])'\\{${name}`).test(text));
  if (swallowed !== undefined) return [...found, error('apostrophe', { name: `{${swallowed}}` })];
  const given = hasLoneBrace(text) ? null : signatureOf(text);
  return given ? [...found, ...differences(wanted, given)] : [...found, error('syntax')];
}

/** The console's own parser reads a } that closes nothing as text; the server refuses it, as other programs do. */
function hasLoneBrace(text: string): boolean {
  let depth = 0;
  for (const [brace] of text.replaceAll("''", '').replace(/'[{}<>][^']*('|$)/g, '').matchAll(/[{}]/g)) {
    depth += brace === '{' ? 1 : -1;
    if (depth < 0) return true;
  }
  return false;
}

function differences(wanted: Signature, given: Signature): Check[] {
  const without = <One,>(all: Iterable<One>, others: { has: (one: One) => boolean }) => [...all].filter((one) => !others.has(one));
  return [
    ...without(wanted.arguments.keys(), given.arguments).map((name) => error('argument_absent', { name: `{${name}}` })),
    ...without(given.arguments.keys(), wanted.arguments).map((name) => error('argument_unknown', { name: `{${name}}` })),
    ...[...wanted.arguments]
      .filter(([name, type]) => !fits(type, given.arguments.get(name)))
      .map(([name]) => error('types', { name: `{${name}}` })),
    ...without(wanted.tags, given.tags).map((name) => error('tag_absent', { name: `<${name}>` })),
    ...without(given.tags, wanted.tags).map((name) => error('tag_unknown', { name: `<${name}>` })),
    ...[...wanted.selects]
      .filter(([name, keys]) => !sameSet(keys, given.selects.get(name)))
      .map(([name, keys]) => error('select_keys', { name: `{${name}}`, keys: [...keys].join(', ') })),
  ];
}

/** Numbers may be shown in any way that numbers are, moments likewise; anything as plain text. */
const fits = (wanted: string, given: string | undefined): boolean =>
  !given || given === wanted || (NUMBER.has(wanted) && NUMBER.has(given)) || (MOMENT.has(wanted) && MOMENT.has(given));

const sameSet = (one: Set<string>, other: Set<string> | undefined): boolean =>
  other !== undefined && one.size === other.size && [...one].every((name) => other.has(name));

function warningsOf(source: string, text: string, locale: string): Check[] {
  const edges = (one: string) => [/^\s*/.exec(one)![0], /\s*$/.exec(one)![0]].join('|');
  return [
    ...(source === text && /\p{L}/u.test(text) && !locale.startsWith('en') ? [warning('same_as_source')] : []),
    ...(edges(source) === edges(text) ? [] : [warning('spaces')]),
    ...[...(signatureOf(text)?.plurals ?? [])].flatMap(([name, forms]) => absentForms(name, forms, text, locale)),
  ];
}

function absentForms(name: string, forms: Set<string>, text: string, locale: string): Check[] {
  const type = signatureOf(text)?.arguments.get(name) === 'selectordinal' ? 'ordinal' : 'cardinal';
  const absent = pluralForms(locale, type).filter((form) => !forms.has(form));
  return absent.length ? [warning('plural_forms', { name: `{${name}}`, forms: absent.join(', ') })] : [];
}
