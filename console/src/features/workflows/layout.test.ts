import { joinsOf, layoutOf, NODE, stepsIn, type Placed } from './layout';
import type { SpecStep } from './shapes';

const tool = (name: string, terminal = false): SpecStep => ({ name, kind: 'tool', tool: 'x', terminal });
const choice = (name: string, then: string, other: string): SpecStep => ({ name, kind: 'choice', then, else: other });
const BRANCHING = [tool('text'), choice('has_form', 'source', 'form'), tool('form'), tool('done', true), tool('source', true)];

test('a step leads to the next one, a choice to its two, an end to nothing', () => {
  expect(joinsOf(BRANCHING)).toEqual([[0, 1, 'next'], [1, 4, 'then'], [1, 2, 'else'], [2, 3, 'next']]);
});

test('branches stand side by side', () => {
  const { nodes } = layoutOf(BRANCHING);
  const at = (name: string) => nodes.find(({ step }) => step.name === name)!;

  expect(at('form').y).toBe(at('source').y);
  expect(at('source').x).toBeGreaterThanOrEqual(at('form').x + NODE.width);
  expect(at('done').x).toBe(at('form').x);
});

test('no two steps overlap and no line runs through a step, for many shapes', () => {
  let seed = 11;
  const random = (below: number) => (seed = (seed * 48271) % 2147483647) % below;
  for (let round = 0; round < 60; round++) {
    const count = 1 + random(64);
    const name = (at: number) => `s${at}`;
    const steps = Array.from({ length: count }, (_, at): SpecStep => {
      const later = () => name(at + 1 + random(Math.max(1, count - at - 1)));
      return at < count - 2 && random(3) === 0 ? choice(name(at), later(), later()) : tool(name(at), random(9) === 0);
    });
    const { nodes, edges, width, height } = layoutOf(steps);
    const overlap = (one: Placed, other: Placed) => Math.abs(one.x - other.x) < NODE.width && Math.abs(one.y - other.y) < NODE.height;
    expect(nodes.filter((one) => one.x + NODE.width > width || one.y + NODE.height > height)).toEqual([]);
    expect(nodes.filter((one) => nodes.some((other) => one !== other && overlap(one, other)))).toEqual([]);
    expect(edges.flatMap(({ path }) => crossed(path, nodes))).toEqual([]);
  }
});

/** The steps that a line's straight parts run through; it may touch where it begins and ends. */
function crossed(path: string, nodes: readonly Placed[]): string[] {
  const points = [...path.matchAll(/(-?[\d.]+) (-?[\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)] as const);
  return nodes
    .filter(({ x, y }) =>
      points.slice(1).some(([bx, by], at) => {
        const [ax, ay] = points[at]!;
        const [left, right, up, down] = [Math.min(ax, bx), Math.max(ax, bx), Math.min(ay, by), Math.max(ay, by)];
        return right > x && left < x + NODE.width && down > y && up < y + NODE.height;
      }),
    )
    .map(({ step }) => step.name);
}

test('half a document is drawn as far as it goes', () => {
  expect(stepsIn(null)).toEqual([]);
  expect(stepsIn({ steps: 'none' })).toEqual([]);
  const broken = [null, { kind: 'tool' }, { name: 'a', kind: 'choice', then: 'b', else: 'a' }, { name: 'a' }, { name: 'b', tool: {} }];
  const steps = stepsIn({ steps: broken });
  expect(steps.map(({ name }) => name)).toEqual(['a', 'b']);
  expect(layoutOf(steps).edges).toHaveLength(1);
  expect(layoutOf([])).toMatchObject({ nodes: [], edges: [] });
});
