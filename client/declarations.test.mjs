import { expect, test } from 'vitest';
import { declarations, typeOf } from './declarations.mjs';

test.each([
  [{ type: 'string' }, 'string'],
  [{ type: 'integer' }, 'number'],
  [{ enum: ['a', "b's", 3, null] }, "'a' | 'b\\'s' | 3 | null"],
  [{ const: 'x' }, "'x'"],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'string | null'],
  [{ type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }] } }, '(string | number)[]'],
  [{ type: 'array', items: { $ref: '#/components/schemas/Note' } }, 'Note[]'],
  [{ type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] }, '[string, number]'],
  [{ type: 'object', additionalProperties: { type: 'string' } }, 'Record<string, string>'],
  [{ type: 'object', additionalProperties: false }, 'Record<string, never>'],
  [{ type: 'object' }, 'Record<string, unknown>'],
  [{ type: 'object', properties: { 'a-b': { type: 'string' }, c: {} }, required: ['c'] }, "{\n  'a-b'?: string;\n  c: unknown;\n}"],
  [{}, 'unknown'],
])('%j is %s', (schema, type) => expect(typeOf(schema)).toBe(type));

test('a row has what is sent and what is answered', () => {
  const json = (schema) => ({ content: { 'application/json': { schema } } });
  const text = declarations({
    components: { schemas: { 'Page[Note]': { description: 'Some of many.', type: 'object', properties: { items: { type: 'array', items: {} } } } } },
    paths: {
      '/api/notes/{id}': {
        put: {
          summary: 'Change it.',
          parameters: [
            { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
            { name: 'q', in: 'query', schema: { type: 'string' } },
          ],
          requestBody: { required: true, ...json({ type: 'object', additionalProperties: true }) },
          responses: { 200: json({ $ref: '#/components/schemas/Page[Note]' }), 204: {}, 404: json({}) },
        },
      },
    },
  });

  expect(text).toContain('/** Some of many. */\nexport type Page_Note_ = {');
  expect(text.replaceAll(/\s+/g, ' ')).toContain(
    "/** Change it. */ '/api/notes/{id}': { params: { path: { id: string; }; query?: { q?: string; }; }; body: Record<string, unknown>; reply: Page_Note_ | undefined; };",
  );
});
