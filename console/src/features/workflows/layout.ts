/** Where the steps of a workflow stand and how they are joined: rows by the longest way to a step, columns by branch. */
import type { SpecStep } from './shapes';

export const NODE = { width: 208, height: 60 };
const GAP = { x: 32, y: 44 };
const EDGE = 8;
const CORNER = 8;

export interface Placed {
  step: SpecStep;
  x: number;
  y: number;
}

export interface Edge {
  from: string;
  to: string;
  branch: 'next' | 'then' | 'else';
  path: string;
  /** Where its name is written. */
  at: Point;
}

export interface Layout {
  nodes: Placed[];
  edges: Edge[];
  width: number;
  height: number;
}

type Point = readonly [x: number, y: number];
type Join = [from: number, to: number, branch: Edge['branch']];

/** What of a document can be drawn, however far from valid it is. */
export function stepsIn(document: unknown): SpecStep[] {
  const { steps } = (typeof document === 'object' && document !== null ? document : {}) as { steps?: unknown };
  if (!Array.isArray(steps)) return [];
  return steps
    .map(drawable)
    .filter((one, at, all) => one.name !== '' && all.findIndex(({ name }) => name === one.name) === at)
    .slice(0, 64);
}

function drawable(one: unknown): SpecStep {
  const facts = (typeof one === 'object' && one !== null ? one : {}) as Record<string, unknown>;
  const text = (name: string): string => (typeof facts[name] === 'string' ? facts[name] : '');
  const kind = facts.kind === 'map' || facts.kind === 'choice' ? facts.kind : 'tool';
  return { name: text('name'), kind, tool: text('tool'), then: text('then'), else: text('else'), terminal: facts.terminal === true };
}

/** Which steps follow which; forward only, so that it has an end. */
export function joinsOf(steps: readonly SpecStep[]): Join[] {
  const places = new Map(steps.map(({ name }, at) => [name, at]));
  const joins = steps.flatMap((step, at): Join[] => {
    if (step.kind !== 'choice') return step.terminal ? [] : [[at, at + 1, 'next']];
    return (['then', 'else'] as const).map((branch): Join => [at, places.get(step[branch] ?? '') ?? -1, branch]);
  });
  return joins.filter(([from, to]) => to > from && to < steps.length);
}

export function layoutOf(steps: readonly SpecStep[]): Layout {
  const joins = joinsOf(steps);
  const cells = cellsOf(steps, joins);
  const taken = new Set(cells.map(({ row, lane }) => `${row},${lane}`));
  const lanes = 1 + Math.max(0, ...cells.map(({ lane }) => lane));
  const rows = 1 + Math.max(0, ...cells.map(({ row }) => row));
  const middle = (lane: number) => EDGE + lane * (NODE.width + GAP.x) + NODE.width / 2;
  const top = (row: number) => EDGE + row * (NODE.height + GAP.y);
  const isFree = (lane: number, above: number, below: number) => {
    for (let row = above + 1; row < below; row++) if (taken.has(`${row},${lane}`)) return false;
    return true;
  };
  let channels = 0;
  const edges = joins.map(([from, to, branch]): Edge => {
    const [a, b] = [cells[from]!, cells[to]!];
    const free = [b.lane, a.lane].find((lane) => isFree(lane, a.row, b.row));
    const via = free === undefined ? middle(lanes - 1) + NODE.width / 2 + GAP.x / 2 + 10 * channels++ : middle(free);
    const [start, end] = [top(a.row) + NODE.height, top(b.row)];
    const [leave, arrive] = [start + GAP.y / 2, end - GAP.y / 2];
    const path = rounded([
      [middle(a.lane), start],
      [middle(a.lane), leave],
      [via, leave],
      [via, arrive],
      [middle(b.lane), arrive],
      [middle(b.lane), end],
    ]);
    const straight = via === middle(a.lane);
    return {
      from: steps[from]!.name,
      to: steps[to]!.name,
      branch,
      path,
      at: straight ? [middle(a.lane), start + GAP.y / 2] : [(middle(a.lane) + via) / 2, leave],
    };
  });
  return {
    nodes: steps.map((step, at) => ({ step, x: middle(cells[at]!.lane) - NODE.width / 2, y: top(cells[at]!.row) })),
    edges,
    width: 2 * EDGE + lanes * NODE.width + (lanes - 1) * GAP.x + (channels ? GAP.x / 2 + 10 * channels : 0),
    height: 2 * EDGE + rows * NODE.height + (rows - 1) * GAP.y,
  };
}

/** A step stands below the last step that leads to it, in the column of the first that does unless that is taken. */
function cellsOf(steps: readonly SpecStep[], joins: readonly Join[]): { row: number; lane: number }[] {
  const cells: { row: number; lane: number }[] = [];
  const taken = new Set<string>();
  steps.forEach((_, at) => {
    const before = joins.filter(([, to]) => to === at).map(([from]) => cells[from]!);
    const row = before.length ? Math.max(...before.map((cell) => cell.row)) + 1 : at ? cells[at - 1]!.row + 1 : 0;
    const isFree = (lane: number) => !taken.has(`${row},${lane}`);
    let lane = before.map((cell) => cell.lane).find(isFree) ?? 0;
    while (!isFree(lane)) lane++;
    taken.add(`${row},${lane}`);
    cells.push({ row, lane });
  });
  return cells;
}

/** A line along these points whose corners are round. */
function rounded(points: readonly Point[]): string {
  const way = points.filter((point, at) => at === 0 || point[0] !== points[at - 1]![0] || point[1] !== points[at - 1]![1]);
  return way
    .map((point, at) => {
      const [before, after] = [way[at - 1], way[at + 1]];
      if (!before) return `M${point.join(' ')}`;
      if (!after) return `L${point.join(' ')}`;
      return `L${towards(point, before).join(' ')}Q${point.join(' ')} ${towards(point, after).join(' ')}`;
    })
    .join('');
}

function towards([x, y]: Point, [toX, toY]: Point): Point {
  const length = Math.abs(toX - x) + Math.abs(toY - y);
  const part = Math.min(CORNER, length / 2) / length;
  return [x + (toX - x) * part, y + (toY - y) * part];
}
