// Packs every built text file once, so that the server never compresses while somebody waits.
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const dist = at('../dist');
copyFileSync(at('../node_modules/@fontsource-variable/inter/LICENSE'), `${dist}/inter-font-license.txt`);
const files = readdirSync(`${dist}/assets`).filter((name) => /\.(js|css|svg)$/.test(name)).map((name) => `${dist}/assets/${name}`);
for (const file of [...files, `${dist}/sw.js`, `${dist}/funnel/sdk.js`]) {
  const source = readFileSync(file);
  writeFileSync(`${file}.gz`, gzipSync(source, { level: 9 }));
  writeFileSync(`${file}.br`, brotliCompressSync(source, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
}
console.log(`packed ${files.length + 2} files`);
