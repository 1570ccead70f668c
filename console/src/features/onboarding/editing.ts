/** Changes to a sign-up form while it is edited: each gives a new document, with the texts of other languages carried along. */
import { judge, paletteOf } from '@/app/colours/contrast';
import type { Experience, FieldOverlay, FieldType, FormField, Overlay } from './experience';

/** The texts that the usual page shows, in its order. */
export const USUAL_TEXTS = ['title', 'intro', 'submit', 'thanks', 'thanks_more'];
const NAME = /^[a-z][a-z0-9_]{0,39}$/;
const RESERVED = 'hp';
const NOTHING: FieldOverlay = { label: null, help: null, options: null };
const EMPTY: Overlay = { copy: {}, fields: {} };

/** What the server sent, with whatever it left out. */
export const whole = (kept: Partial<Experience>): Experience => ({
  fields: [],
  copy: {},
  theme: {},
  judge_prompt: '',
  assets: {},
  template: null,
  locales: {},
  embed_origins: [],
  ...kept,
});

export function moved<One>(list: One[], from: number, to: number): One[] {
  if (to < 0 || to >= list.length) return list;
  const rest = list.filter((_, at) => at !== from);
  return [...rest.slice(0, to), list[from]!, ...rest.slice(to)];
}

export function withField(form: Experience, type: FieldType): Experience {
  const taken = new Set(form.fields.map((field) => field.name));
  let name: string = type;
  for (let n = 2; taken.has(name); n++) name = `${type}_${n}`;
  const options = type === 'select' ? ['1', '2'] : [];
  const field: FormField = { name, type, label: name, help: '', required: type === 'email', max: null, options };
  return { ...form, fields: [...form.fields, field] };
}

const inEveryLanguage = (form: Experience, change: (overlay: Overlay) => Overlay): Experience['locales'] =>
  Object.fromEntries(Object.entries(form.locales).map(([tag, overlay]) => [tag, change(overlay)]));

const renamedKey = <One>(all: Record<string, One>, from: string, to: string | null): Record<string, One> =>
  Object.fromEntries(Object.entries(all).flatMap(([key, one]) => (key !== from ? [[key, one]] : to === null ? [] : [[to, one]])));

/** A field changed at its place; under another name its other languages follow, and labels of options go with their options. */
export function withChange(form: Experience, at: number, change: Partial<FormField>): Experience {
  const before = form.fields[at]!;
  const after = { ...before, ...change };
  const fields = form.fields.map((field, place) => (place === at ? after : field));
  const sameOptions = before.options.length === after.options.length;
  const locales = inEveryLanguage(form, (overlay) => {
    const texts = overlay.fields[before.name];
    const kept = texts && !sameOptions ? { ...overlay.fields, [before.name]: { ...texts, options: null } } : overlay.fields;
    return { ...overlay, fields: renamedKey(kept, before.name, after.name) };
  });
  return { ...form, fields, locales };
}

export function withoutField(form: Experience, at: number): Experience {
  const { name } = form.fields[at]!;
  const locales = inEveryLanguage(form, (overlay) => ({ ...overlay, fields: renamedKey(overlay.fields, name, null) }));
  return { ...form, fields: form.fields.filter((_, place) => place !== at), locales };
}

/** One text that people read: of the page, or of a field. `option` counts from 0. */
export interface Spot {
  field?: string;
  key: string;
  option?: number;
}

export const nameOf = ({ field, key, option }: Spot): string =>
  [field ?? 'copy', key, ...(option === undefined ? [] : [String(option + 1)])].join('.');

/** Every text of the form, in the order of the page. */
export function spotsOf(form: Experience): Spot[] {
  const keys = [...new Set([...USUAL_TEXTS, ...Object.keys(form.copy)])];
  return [
    ...keys.map((key): Spot => ({ key })),
    ...form.fields.flatMap((field): Spot[] => [
      { field: field.name, key: 'label' },
      { field: field.name, key: 'help' },
      ...field.options.map((_, option): Spot => ({ field: field.name, key: 'options', option })),
    ]),
  ];
}

const textOf = (texts: Pick<FieldOverlay, 'label' | 'help' | 'options'> | undefined, { key, option }: Spot): string =>
  (key === 'options' ? texts?.options?.[option ?? 0] : key === 'help' ? texts?.help : texts?.label) ?? '';

/** A text in a language; without one, in the form's own. */
export function readText(form: Experience, spot: Spot, tag?: string): string {
  const place = tag === undefined ? undefined : (form.locales[tag] ?? EMPTY);
  if (spot.field === undefined) return (place?.copy ?? form.copy)[spot.key] ?? '';
  return textOf(place ? place.fields[spot.field] : form.fields.find((field) => field.name === spot.field), spot);
}

function overlaid(form: Experience, spot: Spot, text: string, before: FieldOverlay): FieldOverlay {
  if (spot.key !== 'options') return { ...before, [spot.key]: text || null };
  const own = form.fields.find((field) => field.name === spot.field)?.options ?? [];
  const options = own.map((label, at) => (at === spot.option ? text || label : (before.options?.[at] ?? label)));
  return { ...before, options: options.every((label, at) => label === own[at]) ? null : options };
}

/** A text changed in a language; an empty one is the form's own again. */
export function withText(form: Experience, spot: Spot, text: string, tag?: string): Experience {
  if (tag === undefined) return withOwnText(form, spot, text);
  const overlay = form.locales[tag] ?? EMPTY;
  const next =
    spot.field === undefined
      ? { ...overlay, copy: text ? { ...overlay.copy, [spot.key]: text } : renamedKey(overlay.copy, spot.key, null) }
      : { ...overlay, fields: { ...overlay.fields, [spot.field]: overlaid(form, spot, text, overlay.fields[spot.field] ?? NOTHING) } };
  return { ...form, locales: { ...form.locales, [tag]: next } };
}

function withOwnText(form: Experience, spot: Spot, text: string): Experience {
  if (spot.field !== undefined) {
    const at = form.fields.findIndex((field) => field.name === spot.field);
    const options = form.fields[at]!.options.map((label, place) => (place === spot.option ? text : label));
    return withChange(form, at, spot.key === 'options' ? { options } : { [spot.key]: text });
  }
  if (text) return { ...form, copy: { ...form.copy, [spot.key]: text } };
  // A text that is gone is gone in every language: the page's own words stand in.
  const locales = inEveryLanguage(form, (overlay) => ({ ...overlay, copy: renamedKey(overlay.copy, spot.key, null) }));
  return { ...form, copy: renamedKey(form.copy, spot.key, null), locales };
}

/** What a language lacks: texts that the form has and this language has not. */
export const missingIn = (form: Experience, tag: string): Spot[] =>
  spotsOf(form).filter((spot) => readText(form, spot) !== '' && readText(form, spot, tag) === '');

const ORIGIN = /^https?:\/\/[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?$/;

/** Whether this names a site, as `https://www.example.com`. */
export const isOrigin = (text: string): boolean => ORIGIN.test(text.trim());

/** What is sent: without the empty lines that typing leaves. */
export const tidied = (form: Experience): Experience => ({
  ...form,
  embed_origins: form.embed_origins.map((one) => one.trim()).filter(Boolean),
});

/** An answer to begin with, which the form would take. */
export function exampleOf({ type, required, options }: FormField): string | boolean {
  if (type === 'checkbox' || type === 'consent') return required;
  if (type === 'email') return 'ada@example.com';
  return type === 'select' && required ? (options[0] ?? '') : '';
}

export type Fault = 'no_email' | 'names' | 'labels' | 'options' | 'origins' | 'contrast';

/** What the server would refuse, before it is asked. */
export function faultsOf({ fields, embed_origins, theme }: Experience): Fault[] {
  const names = fields.map((field) => field.name);
  const emails = fields.filter((field) => field.type === 'email');
  const badOptions = ({ type, options }: FormField) =>
    type === 'select' && (options.length === 0 || options.some((one) => !one.trim()) || new Set(options).size < options.length);
  return [
    ...(emails.length === 1 && emails[0]!.required ? [] : ['no_email' as const]),
    ...(new Set(names).size === names.length && names.every((name) => NAME.test(name) && name !== RESERVED) ? [] : ['names' as const]),
    ...(fields.every((field) => field.label.trim()) ? [] : ['labels' as const]),
    ...(fields.some(badOptions) ? ['options' as const] : []),
    ...(judge(paletteOf(theme)).every((one) => one.passes) ? [] : ['contrast' as const]),
    ...(embed_origins.every((one) => !one.trim() || isOrigin(one)) ? [] : ['origins' as const]),
  ];
}

/** Whether two documents say the same: the server and the cache order keys as they like, and the order of fields counts. */
export const isSame = (one: Experience, other: Experience): boolean =>
  linesOf(tidied(one)).join('\n') === linesOf(tidied(other)).join('\n');

/** The document as lines of `path: value`, which people can compare. */
export function linesOf(value: unknown, path = ''): string[] {
  if (value === null || value === '' || value === undefined) return [];
  if (typeof value !== 'object') return [`${path}: ${String(value)}`];
  const entries = Array.isArray(value)
    ? value.map((one: unknown, at): [string, unknown] => [isNamed(one) ? one.name : String(at + 1), one])
    : Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return entries.flatMap(([key, one]) => linesOf(one, path ? `${path}.${key}` : key));
}

const isNamed = (one: unknown): one is { name: string } => typeof one === 'object' && one !== null && 'name' in one;
