import { gather, textOf, valueOf } from './inputs';

test('a text becomes the value its input declares', () => {
  expect(valueOf({ type: 'string' }, '')).toEqual({ value: '' });
  expect(valueOf({ type: 'string', optional: true }, '')).toEqual({ absent: true });
  expect(valueOf({ type: 'integer' }, ' 12 ')).toEqual({ value: 12 });
  expect(valueOf({ type: 'number' }, '0.5')).toEqual({ value: 0.5 });
  expect(valueOf({ type: 'boolean' }, 'false')).toEqual({ value: false });
  expect(valueOf({ type: 'array' }, '["es", "nl"]')).toEqual({ value: ['es', 'nl'] });
  expect(valueOf({ type: 'object' }, '{"a": 1}')).toEqual({ value: { a: 1 } });
});

test('what does not fit says so', () => {
  expect(valueOf({ type: 'integer' }, '1.5')).toEqual({ problem: 'workflows.not_integer' });
  expect(valueOf({ type: 'number' }, 'many')).toEqual({ problem: 'workflows.not_number' });
  expect(valueOf({ type: 'array' }, 'es, nl')).toEqual({ problem: 'workflows.not_array' });
  expect(valueOf({ type: 'object' }, '[]')).toEqual({ problem: 'workflows.not_object' });
  expect(valueOf({ type: 'object' }, 'null')).toEqual({ problem: 'workflows.not_object' });
  expect(valueOf({ type: 'object' }, '')).toEqual({ problem: 'ui.needed' });
});

test('a file must be chosen, what is optional may be left out', () => {
  const declared = { object_id: { type: 'string' }, note: { type: 'string', optional: true }, count: { type: 'integer' } } as const;

  expect(gather(declared, { count: '3' })).toEqual({ input: { count: 3 }, problems: { object_id: 'workflows.file_needed' } });
});

test('a value goes into its field as it would be typed', () => {
  expect(['a', 3, ['x'], undefined].map(textOf)).toEqual(['a', '3', '[\n  "x"\n]', '']);
});
