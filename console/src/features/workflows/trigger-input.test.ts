import { givingOf, inputOf } from './trigger-input';
import { nameOf, typesIn } from './trigger-words';

const declared = { object_id: { type: 'string' }, locales: { type: 'array' }, key: { type: 'string' } } as const;

test('an object_id that is not given is the file that arrived', () => {
  expect(givingOf('object_id', {})).toEqual({ fact: 'object.id', text: '' });
  expect(givingOf('key', {})).toEqual({ fact: null, text: '' });
});

test('what is kept comes back as it was given', () => {
  const input = { object_id: { $: 'object.id' }, locales: ['es'], key: { $: 'object.key' } };
  const givings = Object.fromEntries(Object.keys(declared).map((name) => [name, givingOf(name, input)]));

  expect(inputOf(declared, givings)).toEqual({ input, problems: {} });
});

test('a fixed value is judged as its input declares', () => {
  const { problems } = inputOf(declared, { object_id: { fact: 'object.id', text: '' }, locales: { fact: null, text: 'es' } });

  expect(problems).toEqual({ locales: 'workflows.not_array' });
});

test('types are read in any case, once, and a wrong one is named', () => {
  expect(typesIn('Application/PDF, image/* image/*')).toEqual({ types: ['application/pdf', 'image/*'], wrong: null });
  expect(typesIn('pdf').wrong).toBe('pdf');
  expect(typesIn('*/*').wrong).toBe('*/*');
  expect(typesIn(' ')).toEqual({ types: [], wrong: null });
});

test('a trigger without a name is called by what it starts and where', () => {
  expect(nameOf({ name: '', workflow_slug: 'process-upload', match_prefix: 'in/' })).toBe('process-upload · in/');
  expect(nameOf({ name: '', workflow_slug: 'process-upload', match_prefix: '' })).toBe('process-upload');
});
