import { artifactsIn } from './Output';

const document = { kind: 'document', title: 'Form', object_id: 'o1', fields: { a: 1 } };

test('a tool’s artifact is found, and one of each item of a map', () => {
  expect(artifactsIn({ result: document })).toMatchObject([{ title: 'Form', object_id: 'o1' }]);
  expect(artifactsIn({ results: [document, { result: document, item: 'es' }, { error: { code: 'x' } }, null] })).toHaveLength(2);
});

test('what is no artifact is none, whatever it is', () => {
  for (const one of [null, 3, 'x', [], {}, { result: null }, { result: { kind: 3, title: 'x' } }, { results: 'x' }]) {
    expect(artifactsIn(one)).toEqual([]);
  }
  expect(artifactsIn({ result: { ...document, summary: { a: 1 } } })).toMatchObject([{ summary: null }]);
});
