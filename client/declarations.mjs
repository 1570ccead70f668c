// An OpenAPI document as TypeScript: an interface of every schema, and for every row what is sent and what is answered.

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const JSON_TYPE = /^application\/(problem\+)?json$/;

/** The text of the module. */
export function declarations({ components, paths }) {
  const schemas = Object.entries(components.schemas);
  const rows = METHODS.map((method) => `  ${method.toUpperCase()}: {\n${rowsOf(paths, method)}  };\n`);
  return [
    "// Written by `npm run generate` from the server's OpenAPI document. Do not edit.\n",
    ...schemas.map(([name, schema]) => `${comment(schema.description, 0)}export type ${nameOf(name)} = ${typeOf(schema)};\n`),
    `export interface Schemas {\n${schemas.map(([name]) => `  ${key(name)}: ${nameOf(name)};\n`).join('')}}\n`,
    `export interface Rows {\n${rows.join('')}}\n`,
  ].join('\n');
}

function rowsOf(paths, method) {
  return Object.entries(paths)
    .filter(([, operations]) => operations[method])
    .map(([path, operations]) => `${comment(operations[method].summary, 4)}    ${quoted(path)}: ${rowOf(operations[method])};\n`)
    .join('');
}

function rowOf(operation) {
  return object([...paramsOf(operation.parameters ?? []), ...bodyOf(operation.requestBody), `reply: ${replyOf(operation.responses)}`], 4);
}

function paramsOf(parameters) {
  const places = ['path', 'query', 'header']
    .map((place) => [place, parameters.filter((one) => one.in === place)])
    .filter(([, found]) => found.length > 0)
    .map(([place, found]) => {
      const fields = found.map((one) => `${key(one.name)}${one.required ? '' : '?'}: ${typeOf(one.schema, 8)}`);
      return [found.some((one) => one.required), `${place}${found.some((one) => one.required) ? '' : '?'}: ${object(fields, 8)}`];
    });
  if (places.length === 0) return [];
  return [`params${places.some(([needed]) => needed) ? '' : '?'}: ${object(places.map(([, text]) => text), 6)}`];
}

function bodyOf(body) {
  if (!body) return [];
  const [[type, { schema }]] = Object.entries(body.content);
  return [`body${body.required ? '' : '?'}: ${JSON_TYPE.test(type) ? typeOf(schema, 4) : 'Blob | ArrayBuffer'}`];
}

function replyOf(responses) {
  const types = new Set();
  for (const [status, { content }] of Object.entries(responses)) {
    if (!status.startsWith('2')) continue;
    const found = Object.entries(content ?? {});
    if (found.length === 0) types.add('undefined');
    for (const [type, { schema }] of found) types.add(JSON_TYPE.test(type) ? typeOf(schema, 4) : type === 'text/event-stream' ? 'ReadableStream<Uint8Array>' : 'Blob');
  }
  return union([...types]);
}

/** A schema as a type; `depth` is how far its own lines stand in. */
export function typeOf(schema, depth = 0) {
  if (schema === true || schema === undefined) return 'unknown';
  if (schema === false) return 'never';
  if (schema.$ref) return nameOf(schema.$ref.split('/').at(-1));
  if ('const' in schema) return literal(schema.const);
  if (schema.enum) return union(schema.enum.map(literal));
  if (schema.anyOf ?? schema.oneOf) return union((schema.anyOf ?? schema.oneOf).map((one) => typeOf(one, depth)));
  if (schema.allOf) return schema.allOf.map((one) => typeOf(one, depth)).join(' & ');
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => typeOf({ ...schema, type }, depth)));
  return OF_TYPE[schema.type]?.(schema, depth) ?? 'unknown';
}

const OF_TYPE = {
  string: () => 'string',
  integer: () => 'number',
  number: () => 'number',
  boolean: () => 'boolean',
  null: () => 'null',
  array: ({ items, prefixItems }, depth) =>
    prefixItems ? `[${prefixItems.map((one) => typeOf(one, depth)).join(', ')}]` : `${grouped(typeOf(items, depth))}[]`,
  object: ({ properties = {}, required = [], additionalProperties }, depth) => {
    const fields = Object.entries(properties).map(
      ([name, schema]) => `${key(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema, depth + 2)}`,
    );
    const open = additionalProperties === true || typeof additionalProperties === 'object';
    if (fields.length === 0) return additionalProperties === false ? 'Record<string, never>' : `Record<string, ${typeOf(additionalProperties, depth)}>`;
    return object(fields, depth) + (open ? ' & Record<string, unknown>' : '');
  },
};

function object(fields, depth) {
  const inner = ' '.repeat(depth + 2);
  return `{\n${fields.map((field) => `${inner}${field};\n`).join('')}${' '.repeat(depth)}}`;
}

const union = (types) => [...new Set(types)].join(' | ');
const grouped = (type) => (/^[\w.]+$|^Record<[^|]+>$/.test(type) ? type : `(${type})`);
/** A schema's name where TypeScript wants an identifier. */
const nameOf = (name) => name.replaceAll(/\W+/g, '_');
const key = (name) => (IDENTIFIER.test(name) ? name : quoted(name));
const literal = (value) => (typeof value === 'string' ? quoted(value) : JSON.stringify(value));
const quoted = (text) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
const comment = (text, depth) => (text ? `${' '.repeat(depth)}/** ${text.replaceAll('*/', '*\\/').replaceAll('\n', ' ')} */\n` : '');
