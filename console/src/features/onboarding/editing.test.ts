import { describe, expect, it } from 'vitest';
import {
  exampleOf,
  faultsOf,
  isOrigin,
  isSame,
  linesOf,
  missingIn,
  moved,
  readText,
  tidied,
  whole,
  withChange,
  withField,
  withoutField,
  withText,
} from './editing';

const email = { name: 'email', type: 'email' as const, label: 'E-mail', help: '', required: true, max: null, options: [] };
const size = { name: 'size', type: 'select' as const, label: 'Size', help: '', required: false, max: null, options: ['one', 'more'] };
const form = whole({
  fields: [email, size],
  copy: { title: 'Join' },
  locales: { es: { copy: { title: 'Únete' }, fields: { size: { label: 'Tamaño', help: null, options: ['uno', 'más'] } } } },
});

describe('fields', () => {
  it('move, and stay where there is no further place', () => {
    expect(moved(['a', 'b', 'c'], 0, 2)).toEqual(['b', 'c', 'a']);
    expect(moved(['a', 'b', 'c'], 2, 3)).toEqual(['a', 'b', 'c']);
  });

  it('take their other languages along when they are renamed, and with them when they go', () => {
    expect(Object.keys(withChange(form, 1, { name: 'people' }).locales.es!.fields)).toEqual(['people']);
    expect(withoutField(form, 1).locales.es!.fields).toEqual({});
  });

  it('lose labels of options when there are more or fewer of them', () => {
    const longer = withChange(form, 1, { options: ['one', 'two', 'more'] });
    expect(longer.locales.es!.fields.size).toMatchObject({ label: 'Tamaño', options: null });
  });

  it('get names of their own', () => {
    expect(withField(withField(form, 'text'), 'text').fields.slice(2).map((field) => field.name)).toEqual(['text', 'text_2']);
  });
});

describe('texts', () => {
  it('are read and changed in a language, and an empty one is the form’s own again', () => {
    const spot = { field: 'size', key: 'options', option: 1 };
    const changed = withText(form, spot, 'muchos', 'es');
    expect(readText(changed, spot, 'es')).toBe('muchos');
    expect(withText(withText(changed, spot, '', 'es'), { ...spot, option: 0 }, '', 'es').locales.es!.fields.size!.options).toBeNull();
  });

  it('are missing where the form has one and the language has none', () => {
    expect(missingIn(form, 'es')).toEqual([{ field: 'email', key: 'label' }]);
    expect(missingIn(form, 'nl').length).toBe(5);
  });

  it('go in every language when they go', () => {
    expect(withText(form, { key: 'title' }, '').locales.es!.copy).toEqual({});
  });
});

it('faults are found before the server is asked', () => {
  expect(faultsOf(form)).toEqual([]);
  expect(faultsOf(whole({ fields: [{ ...email, required: false }, { ...size, name: 'Size', label: ' ', options: ['a', 'a'] }] }))).toEqual([
    'no_email',
    'names',
    'labels',
    'options',
  ]);
});

it('a document is the same whatever the order of its keys, and another when fields moved', () => {
  const { copy, fields, ...rest } = form;
  expect(isSame(form, { ...rest, fields, copy })).toBe(true);
  expect(isSame(form, { ...form, fields: moved(fields, 0, 1) })).toBe(false);
});

it('a document becomes lines that name each text', () => {
  expect(linesOf(form)).toContain('fields.size.options.2: more');
  expect(linesOf(form)).toContain('locales.es.copy.title: Únete');
});

it('sites are named without a path, and empty lines between them do not count', () => {
  expect(['https://www.example.com', 'http://localhost:8080'].every(isOrigin)).toBe(true);
  expect(['https://www.example.com/', 'www.example.com', '*', 'https://*.example.com'].some(isOrigin)).toBe(false);
  const typed = { ...form, embed_origins: ['https://www.example.com ', ''] };
  expect(tidied(typed).embed_origins).toEqual(['https://www.example.com']);
  expect(isSame(typed, tidied(typed))).toBe(true);
  expect(faultsOf(typed)).toEqual([]);
  expect(faultsOf({ ...form, embed_origins: ['*'] })).toEqual(['origins']);
});

it('colours that are hard to read are a fault', () => {
  expect(faultsOf({ ...form, theme: { accent: '#0f766e', focus: '#0f766e' } })).toEqual([]);
  expect(faultsOf({ ...form, theme: { accent: '#9aa5ff' } })).toEqual(['contrast']);
});

it('made-up answers are such as the form takes', () => {
  expect(exampleOf(email)).toBe('ada@example.com');
  expect([exampleOf(size), exampleOf({ ...size, required: true })]).toEqual(['', 'one']);
  expect(exampleOf({ ...email, type: 'consent' })).toBe(true);
});
