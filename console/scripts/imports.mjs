// Which file imports which: every arrow points down the floors, features never meet, and nothing imports itself by a detour.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import ts from 'typescript';

/** From the bottom up; a file imports its own floor and those below. Files beside the floors, as main.tsx, stand on top. */
const FLOORS = ['i18n', 'api', 'ui', 'app', 'features'];
const ENDINGS = ['', '.ts', '.tsx', '/index.ts'];

const isFile = (path) => existsSync(path) && statSync(path).isFile();

function targetOf(name, file, root) {
  const start = name.startsWith('@/') ? join(root, name.slice(2)) : name.startsWith('.') ? join(dirname(file), name) : null;
  return start && ENDINGS.map((ending) => start + ending).find(isFile);
}

/** Every source file below a folder with the files it imports: values and types, at once and lazily. */
export function importsIn(root) {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
  return new Map(names.map((name) => {
    const file = join(root, name);
    const found = ts.preProcessFile(readFileSync(file, 'utf8'), true, true).importedFiles.map((one) => targetOf(one.fileName, file, root));
    return [name, [...new Set(found.filter(Boolean).map((path) => relative(root, path)))]];
  }));
}

function upward(from, to) {
  const [floor, feature] = from.split(sep);
  const [other, neighbour] = to.split(sep);
  if (!FLOORS.includes(floor)) return false;
  if (FLOORS.indexOf(other) > FLOORS.indexOf(floor)) return true;
  return floor === 'features' && other === 'features' && feature !== neighbour;
}

/** The groups of files that reach themselves again (Tarjan's strongly connected components). */
function circlesIn(graph) {
  const [order, low, stack, circles] = [new Map(), new Map(), [], []];
  const visit = (file) => {
    order.set(file, order.size);
    low.set(file, order.get(file));
    stack.push(file);
    for (const next of graph.get(file) ?? []) {
      if (!order.has(next)) visit(next);
      if (stack.includes(next)) low.set(file, Math.min(low.get(file), low.get(next)));
    }
    if (low.get(file) !== order.get(file)) return;
    const group = stack.splice(stack.indexOf(file));
    if (group.length > 1 || graph.get(file)?.includes(file)) circles.push(group.sort());
  };
  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return circles;
}

export function problemsIn(root) {
  const graph = importsIn(root);
  const arrows = [...graph].flatMap(([from, targets]) => targets.filter((to) => upward(from, to)).map((to) => `${from} must not import ${to}`));
  return [...arrows, ...circlesIn(graph).map((files) => `import circle: ${files.join(', ')}`)].sort();
}
