/** Specs as text, and one to begin with: it runs as it stands, with tools that every team has. */
export const EXAMPLE = {
  format: 1,
  slug: 'shift-notes',
  title: 'Shift notes',
  description: 'Writes a note for every berth that is named, unless none is.',
  inputs: {
    berths: { type: 'array', description: 'Names of berths, as a JSON list: ["Berth 7", "Berth 9"]' },
    day: { type: 'string', description: 'The day the notes are about' },
  },
  start: 'any',
  max_steps: 20,
  steps: [
    { name: 'any', kind: 'choice', when: { empty: { $: 'input.berths' } }, then: 'look', else: 'write' },
    {
      name: 'write',
      kind: 'map',
      over: { $: 'input.berths' },
      tool: 'notes_create',
      with: { title: { $: 'item' }, body: { $: 'input.day' } },
      on_item_error: 'collect',
    },
    { name: 'look', kind: 'tool', tool: 'notes_list', with: {}, terminal: true },
  ],
} as const;

/** Names in the order people write them; the server keeps none. */
const ORDER = [
  ...['format', 'slug', 'version', 'title', 'description', 'inputs', 'start', 'max_steps', 'name', 'kind', 'type', 'when', 'then', 'else'],
  ...['over', 'tool', 'with', 'retry', 'timeout', 'on_item_error', 'terminal', 'optional', 'steps', 'output'],
];
const rank = (name: string): number => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);

function ordered(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => rank(one) - rank(other)));
}

export const written = (spec: unknown): string => `${JSON.stringify(spec, ordered, 2)}\n`;
