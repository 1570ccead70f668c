import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { minifySync, type Plugin } from 'vite';
import { defineConfig } from 'vitest/config';
import { ENTRY, FRAME } from './src/i18n/namespaces.ts';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The render-blocking script: hashed like every asset in a build, served as it is in development. */
function bootScript(): Plugin {
  const source = () => readFileSync(at('./src/boot.js'), 'utf8').replace(/\b(ENTRY|FRAME)\b/g, (name) => `'${{ ENTRY, FRAME }[name]!.join()}'`);
  let reference = '';
  return {
    name: 'boot-script',
    configureServer(server) {
      server.middlewares.use('/boot.js', (_request, response) => {
        response.setHeader('content-type', 'text/javascript').end(source());
      });
    },
    buildStart() {
      if (this.environment.mode !== 'build') return;
      reference = this.emitFile({ type: 'asset', name: 'boot.js', source: minifySync('boot.js', source()).code });
    },
    transformIndexHtml: {
      order: 'post',
      handler(html, context) {
        if (!context.bundle) return html;
        const emitted = Object.keys(context.bundle).find((name) => /\/boot-[\w-]+\.js$/.test(name));
        if (!emitted || !reference) throw new Error('the boot script was not emitted');
        return html.replace('src="/boot.js"', `src="/${emitted}"`);
      },
    },
  };
}

/** The source files that load together with these, without what they load lazily. */
function loadedWith(roots: string[]): Set<string> {
  const seen = new Set<string>();
  const walk = (file: string) => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const [, name] of readFileSync(file, 'utf8').matchAll(/\bfrom '((?:@|\.\.?)\/[^']+)'/g)) {
      const start = name!.startsWith('@/') ? at(`./src/${name!.slice(2)}`) : join(dirname(file), name!);
      const found = ['.ts', '.tsx'].map((ending) => start + ending).find((path) => existsSync(path));
      if (found) walk(found);
    }
  };
  roots.forEach(walk);
  return seen;
}

const namesIn = (list: string) => list.split(',').map((name) => name.trim().split(' '));
const iconsIn = (file: string) => [...readFileSync(file, 'utf8').matchAll(/import \{([^}]*)\} from 'lucide-react'/g)].flatMap(([, list]) => namesIn(list!).map(([name]) => name!));

/**
 * The chunk of each icon, by its file: those drawn whatever page is open, those of several features, and those of one.
 * Fewer requests than a file for each, and no page waits for what only others draw.
 */
function chunksOfIcons(): Map<string, string> {
  const sources = readdirSync(at('./src'), { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file));
  const places = sources.filter((file) => /^features[\\/][\w-]+[\\/]sidebar\.ts$/.test(file)).map((file) => at(`./src/${file}`));
  const frame = new Set([...loadedWith([at('./src/app/Shell.tsx'), at('./src/features/home/Home.tsx'), ...places])].flatMap(iconsIn));
  const users = new Map<string, Set<string>>();
  for (const file of sources) {
    const user = /^features[\\/]([\w-]+)/.exec(file)?.[1] ?? 'app';
    for (const name of iconsIn(at(`./src/${file}`))) users.set(name, (users.get(name) ?? new Set()).add(user));
  }
  const chunkOf = (name: string) => (frame.has(name) ? 'icons' : users.get(name)!.size > 1 ? 'page-icons' : `icons-${[...users.get(name)!][0]}`);
  const index = readFileSync(at('./node_modules/lucide-react/dist/esm/lucide-react.mjs'), 'utf8');
  const files = [...index.matchAll(/export \{([^}]*)\} from '\.\/icons\/([^']+)'/g)].map(([, list, file]) => [file!, namesIn(list!).map((names) => names.at(-1)!).find((name) => users.has(name))] as const);
  return new Map(files.filter(([, name]) => name !== undefined).map(([file, name]) => [file, chunkOf(name!)]));
}

/** What every page stands on is there before any page is: named once, not beside each of them. */
const EVERYWHERE = /\/(react|rolldown-runtime|core|forms|index|icons|Shell|Overlay|frame|pages|places|rows|bits|toast)-[\w-]+\.(js|css)$/;
const preloadsOf = (file: string, needed: string[], host: { hostId: string; hostType: string }): string[] =>
  host.hostType === 'html' || /\/index-[\w-]+\.js$/.test(host.hostId) ? needed : needed.filter((one) => one !== file && !EVERYWHERE.test(one));

const icons = chunksOfIcons();
const server = process.env.ATRIUM_SERVER ?? 'http://127.0.0.1:8080';

export default defineConfig({
  plugins: [react(), tailwind(), bootScript()],
  resolve: {
    alias: [
      { find: /^@(?=\/)/, replacement: at('./src') },
      { find: '@atrium/client', replacement: at('../client/src/index.ts') },
      { find: 'react-style-singleton', replacement: at('./src/ui/style-singleton.ts') },
      { find: '@formatjs/icu-skeleton-parser', replacement: at('./src/i18n/icu-skeletons.ts') },
    ],
  },
  server: { fs: { allow: [at('.'), at('../client')] }, proxy: { '/api': server, '/docs': server, '/openapi.json': server } },
  build: {
    target: 'es2023',
    assetsInlineLimit: 0,
    manifest: true,
    modulePreload: { polyfill: false, resolveDependencies: preloadsOf },
    rollupOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'react', test: /node_modules[\\/](react|react-dom|scheduler)[\\/]/, priority: 30 },
            { name: 'core', test: /node_modules[\\/](@tanstack[\\/](react-router|router-core|history|react-store|store)|intl-messageformat|@formatjs|clsx)/, priority: 20 },
            { name: 'forms', test: /src[\\/](ui[\\/](Button|Field|Mark|PasswordField|Problem)\.tsx|app[\\/](title|session|look)\.tsx?|i18n[\\/](language|formatter|catalog|namespaces)\.tsx?|api[\\/](refusal|client|credential|calls)\.ts)$|lucide-react[\\/].*[\\/]globe\.m?js$/, priority: 10 },
            { name: 'frame', test: /src[\\/]app[\\/](Page|PlaceLink|Tabs|lazy-dialog|pins|settings-places|shortcuts|theme)\.tsx?$/, priority: 8, includeDependenciesRecursively: false },
            { name: (id) => icons.get(basename(id)) ?? null, test: /node_modules[\\/]lucide-react[\\/]/, minShareCount: 2, priority: 5 },
          ],
        },
      },
    },
  },
  test: { environment: 'happy-dom', globals: true, setupFiles: ['./src/test-setup.ts'], include: ['src/**/*.test.{ts,tsx}', 'scripts/**/*.test.mjs', '../client/**/*.test.{ts,mjs}'] },
});
