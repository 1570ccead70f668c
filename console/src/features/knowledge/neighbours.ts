/** Who stands around an entity, and where they are drawn: who acts on it at the start, whom it acts on at the end. */
import type { Relation } from './queries';

export const NODE = { width: 176, height: 52 };
/** More than these are in the list only: a drawing of two hundred tells nothing. */
export const SHOWN = 16;
const GAP = { x: 72, y: 14 };
const EDGE = 8;

export interface Neighbour {
  entity: Relation['entity'];
  relations: Relation[];
}

export interface Placed {
  neighbour: Neighbour;
  x: number;
  y: number;
  /** From the middle of one side to the middle of the other. */
  path: string;
}

export interface Drawing {
  width: number;
  height: number;
  centre: { x: number; y: number };
  nodes: Placed[];
}

/** In the order in which they first come. */
export function grouped<One>(all: One[], keyOf: (one: One) => string): One[][] {
  const groups = new Map<string, One[]>();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return [...groups.values()];
}

/** Each other end once, with everything that joins the two. */
export const neighboursOf = (relations: Relation[]): Neighbour[] =>
  grouped(relations, ({ entity }) => entity.id).map((all) => ({ entity: all[0]!.entity, relations: all }));

const actsOnIt = ({ relations }: Neighbour): boolean => relations.every(({ direction }) => direction === 'in');

/** Two columns with the entity between them; x and y are where a box begins. */
export function layOut(neighbours: Neighbour[]): Drawing {
  const [before, after] = [neighbours.filter(actsOnIt), neighbours.filter((one) => !actsOnIt(one))];
  const rows = Math.max(before.length, after.length, 1);
  const height = 2 * EDGE + rows * NODE.height + (rows - 1) * GAP.y;
  const centre = { x: EDGE + (before.length ? NODE.width + GAP.x : 0), y: (height - NODE.height) / 2 };
  const middle = height / 2;
  const place = (column: Neighbour[], x: number, from: number, to: number): Placed[] =>
    column.map((neighbour, at) => {
      const top = middle - (column.length * (NODE.height + GAP.y) - GAP.y) / 2;
      const y = top + at * (NODE.height + GAP.y);
      const half = (from + to) / 2;
      return { neighbour, x, y, path: `M${from} ${middle}C${half} ${middle} ${half} ${y + NODE.height / 2} ${to} ${y + NODE.height / 2}` };
    });
  const end = centre.x + NODE.width;
  const nodes = [...place(before, EDGE, centre.x, EDGE + NODE.width), ...place(after, end + GAP.x, end, end + GAP.x)];
  return { width: end + (after.length ? GAP.x + NODE.width : 0) + EDGE, height, centre, nodes };
}
