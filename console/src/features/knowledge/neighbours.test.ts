import { expect, test } from 'vitest';
import { layOut, neighboursOf, NODE, SHOWN } from './neighbours';
import type { Relation } from './queries';

const relation = (id: string, type = 'knows', direction: Relation['direction'] = 'out'): Relation => ({
  id: `${type} ${id}`,
  type,
  direction,
  entity: { id, type: 'person', name: id },
  documents: 1,
  evidence: [],
});

test('who is related twice stands there once', () => {
  const found = neighboursOf([relation('a'), relation('b'), relation('a', 'pays', 'in')]);

  expect(found.map(({ entity, relations }) => [entity.id, relations.length])).toEqual([['a', 2], ['b', 1]]);
});

test.each(Array.from({ length: SHOWN }, (_, at) => at + 1))('%i neighbours cover neither each other nor the middle', (count) => {
  const relations = Array.from({ length: count }, (_, at) => relation(String(at), 'knows', at % 3 ? 'out' : 'in'));

  const { width, height, centre, nodes } = layOut(neighboursOf(relations));

  const boxes = [centre, ...nodes];
  for (const [at, one] of boxes.entries()) {
    expect(Math.min(one.x, one.y)).toBeGreaterThanOrEqual(0);
    expect(one.x + NODE.width).toBeLessThanOrEqual(width);
    expect(one.y + NODE.height).toBeLessThanOrEqual(height);
    for (const other of boxes.slice(at + 1)) {
      expect(Math.abs(one.x - other.x) >= NODE.width || Math.abs(one.y - other.y) >= NODE.height).toBe(true);
    }
  }
});
