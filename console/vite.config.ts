import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { minifySync, type Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The render-blocking script: hashed like every asset in a build, served as it is in development. */
function bootScript(): Plugin {
  const source = () => readFileSync(at('./src/boot.js'), 'utf8');
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

const server = process.env.ATRIUM_SERVER ?? 'http://127.0.0.1:8080';

export default defineConfig({
  plugins: [react(), tailwind(), bootScript()],
  resolve: {
    alias: [
      { find: /^@(?=\/)/, replacement: at('./src') },
      { find: 'react-style-singleton', replacement: at('./src/ui/style-singleton.ts') },
      { find: '@formatjs/icu-skeleton-parser', replacement: at('./src/app/icu-skeletons.ts') },
    ],
  },
  server: { proxy: { '/api': server, '/docs': server, '/openapi.json': server } },
  build: {
    target: 'es2023',
    assetsInlineLimit: 0,
    manifest: true,
    modulePreload: { polyfill: false },
    rollupOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'react', test: /node_modules[\\/](react|react-dom|scheduler)[\\/]/, priority: 30 },
            { name: 'core', test: /node_modules[\\/](@tanstack[\\/](react-router|router-core|history|react-store|store)|openapi-fetch|intl-messageformat|@formatjs|clsx)/, priority: 20 },
            { name: 'forms', test: /src[\\/](ui[\\/](Button|Field|Mark|PasswordField|Problem)\.tsx|app[\\/](title|session|language|look|speech)\.tsx?|api[\\/](refusal|client|credential|calls)\.ts)$|lucide-react[\\/].*[\\/]globe\.m?js$/, priority: 10 },
            // One file of icons instead of one for each: fewer requests, and fewer names in the first file everybody loads.
            { name: 'icons', test: /node_modules[\\/]lucide-react[\\/]/, minShareCount: 2, priority: 5 },
          ],
        },
      },
    },
  },
  test: { environment: 'happy-dom', globals: true, setupFiles: ['./src/test-setup.ts'], include: ['src/**/*.test.{ts,tsx}'] },
});
