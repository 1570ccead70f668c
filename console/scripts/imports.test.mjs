import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { importsIn, problemsIn } from './imports.mjs';

const source = join(import.meta.dirname, '../src');
const folders = [];

function planted(files) {
  const root = mkdtempSync(join(tmpdir(), 'imports-'));
  folders.push(root);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(root, dirname(name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}

afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

test('no import of the console points upward, and there is no circle', () => {
  expect([...importsIn(source).values()].flat().length).toBeGreaterThan(500);
  expect(problemsIn(source)).toEqual([]);
});

test('an import from ui to the frame or to a feature is found', () => {
  const root = planted({
    'ui/Meter.tsx': `import { useLanguage } from '@/app/language';\nconst page = () => import('@/features/notes/NotePage');`,
    'app/language.tsx': '',
    'features/notes/NotePage.tsx': '',
  });

  expect(problemsIn(root)).toEqual(['ui/Meter.tsx must not import app/language.tsx', 'ui/Meter.tsx must not import features/notes/NotePage.tsx']);
});

test('features that meet and an interface that draws are found', () => {
  const root = planted({
    'features/notes/List.tsx': `export * from '../files/keys';`,
    'features/files/keys.ts': '',
    'api/client.ts': `import { toast } from '@/ui/toast';`,
    'ui/toast.tsx': '',
  });

  expect(problemsIn(root)).toEqual(['api/client.ts must not import ui/toast.tsx', 'features/notes/List.tsx must not import features/files/keys.ts']);
});

test('a circle is found, through types and over several files', () => {
  const root = planted({
    'ui/one.ts': `import { two } from './two';`,
    'ui/two.ts': `export const two = () => import('./three');`,
    'ui/three.ts': `import type { One } from './one';`,
    'ui/four.ts': `import { one } from './one';`,
  });

  expect(problemsIn(root)).toEqual(['import circle: ui/one.ts, ui/three.ts, ui/two.ts']);
});
