// Shows that the console carries many more screens: builds a copy of it with generated features and holds it to the same budgets.
// `npm run budget:many` (25 features, or as many as the argument says); about 15 s on two idle cores, so not part of the gate's every run.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const console_ = fileURLToPath(new URL('..', import.meta.url));
const many = Number(process.argv[2] ?? 25);
const ICONS = ['Anchor', 'Archive', 'Atom', 'Award', 'Bell', 'Bike', 'Bird', 'Bomb', 'Bone', 'Book', 'Brain', 'Bug', 'Bus', 'Cake', 'Camera', 'Car', 'Cat', 'Cherry', 'Cloud', 'Coffee', 'Cookie', 'Crown', 'Dice1', 'Dog', 'Drum'];

function copy() {
  const root = mkdtempSync(join(tmpdir(), 'atrium-many-'));
  const target = join(root, 'console');
  mkdirSync(target);
  for (const name of readdirSync(console_)) if (!['node_modules', 'dist', 'e2e'].includes(name)) cpSync(join(console_, name), join(target, name), { recursive: true });
  symlinkSync(join(console_, 'node_modules'), join(target, 'node_modules'));
  cpSync(join(console_, '../locales'), join(root, 'locales'), { recursive: true });
  return root;
}

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** A feature as the README describes one: two pages, a place in Settings, a command, words of its own in every locale. */
function addFeature(root, n) {
  const name = `extra${n}`;
  const icon = ICONS[n % ICONS.length];
  const folder = join(root, 'console/src/features', name);
  const page = (part) => [
    `import { ${icon} } from 'lucide-react';`,
    `import { Page } from '@/app/Page';`,
    `import { useLanguage } from '@/i18n/language';`,
    `import { Empty } from '@/ui/Empty';`,
    '',
    `export default function ${part}${n}() {`,
    '  const { t } = useLanguage();',
    `  return <Page title={t('nav.${name}')}><Empty icon={${icon}} title={t('${name}.none_title')} body={t('${name}.none_body')} /></Page>;`,
    '}',
    '',
  ].join('\n');
  write(join(folder, `List${n}.tsx`), page('List'));
  write(join(folder, `Detail${n}.tsx`), page('Detail'));
  write(join(folder, 'index.ts'), `import type { Feature } from '@/app/feature';\n\nexport default {\n  pages: [\n    { path: '/${name}', load: () => import('./List${n}') },\n    { path: '/${name}/$id', permission: 'notes:read', load: () => import('./Detail${n}') },\n  ],\n} satisfies Feature;\n`);
  write(join(folder, 'navigation.ts'), `import { ${icon} } from 'lucide-react';\nimport type { Navigation } from '@/app/feature';\n\nexport default {\n  settings: [{ to: '/${name}', label: 'nav.${name}', icon: ${icon}, section: 'team', order: ${200 + n} }],\n  commands: [{ label: 'nav.new_${name}', icon: ${icon}, to: '/${name}/new' }],\n} satisfies Navigation;\n`);
  for (const locale of readdirSync(join(root, 'locales'))) addWords(join(root, 'locales', locale), name, n);
}

function addWords(folder, name, n) {
  const file = join(folder, 'nav.json');
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), [name]: `Extra ${n}`, [`new_${name}`]: `New extra ${n}` }));
  writeFileSync(join(folder, `${name}.json`), JSON.stringify({ none_title: 'Nothing here yet', none_body: `The screen ${n} of a feature that comes later.` }));
}

const root = copy();
try {
  for (let n = 0; n < many; n++) addFeature(root, n);
  const run = (...script) => execFileSync(process.execPath, script, { cwd: join(root, 'console'), stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' });
  run('scripts/generate-messages.mjs');
  run('node_modules/vite/bin/vite.js', 'build');
  console.log(`with ${many} more features:\n${run('scripts/budget.mjs')}`);
} catch (error) {
  console.error(error.stdout ?? error);
  process.exitCode = 1;
} finally {
  rmSync(root, { recursive: true });
}
