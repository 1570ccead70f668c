/** What `response_format` is for this schema; what is wrong when it is none. */
export function formatFor(schema: string): { format: object } | { problem: 'chat.schema_json' | 'chat.schema_object' } {
  if (!schema.trim()) return { format: { type: 'json_object' } };
  try {
    const found = JSON.parse(schema) as unknown;
    if (typeof found !== 'object' || found === null || Array.isArray(found)) return { problem: 'chat.schema_object' };
    return { format: { type: 'json_schema', json_schema: { name: 'reply', schema: found } } };
  } catch {
    return { problem: 'chat.schema_json' };
  }
}
