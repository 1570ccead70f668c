/** The funnel's page and SDK: two classic scripts and a style, beside the console and without anything of it. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build, minifySync } from 'vite';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
mkdirSync(at('dist/funnel'), { recursive: true });
for (const name of ['sdk', 'page']) {
  await build({
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    build: { outDir: at('dist/funnel'), emptyOutDir: false, target: 'es2022', lib: { entry: at(`funnel/${name}.ts`), formats: ['iife'], name: `atrium_${name}`, fileName: () => `${name}.js` } },
  });
  const file = at(`dist/funnel/${name}.js`);
  writeFileSync(file, minifySync(`${name}.js`, readFileSync(file, 'utf8')).code);
}
copyFileSync(at('funnel/page.css'), at('dist/funnel/page.css'));
